import CommandArguments
import Foundation
import Testing

@testable import CourierCommands

struct MosquittoOptionsTests {
    private static let table = MosquittoOptions(CourierProgram.commands.map(\.summary))

    @Test func `every option of the manual pages works or is refused by name`() {
        #expect(Self.table.rows.count > 70)
        for row in Self.table.rows { #expect(row.outcome != nil, "\(row.names)") }
    }

    @Test func `the table in the documentation is this one`() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let page = try String(
            contentsOf: root.appendingPathComponent("docs/reference/command-line.md"), encoding: .utf8)
        #expect(page.contains("\n" + Self.table.markdown), "courier --generate-option-table prints the table")
    }

    @Test func `no command has two options of one name`() {
        for command in CourierProgram.commands {
            let names = command.summary.options.flatMap(\.names.all)
            #expect(Set(names).count == names.count, "\(command.summary.name)")
        }
    }

    @Test(arguments: Self.table.rows.filter { if case .refused? = $0.outcome { true } else { false } })
    func `what is refused is refused by its name, with a hint`(row: MosquittoOptions.Row) throws {
        for name in row.names {
            var settings = SubscribeArguments()
            try ArgumentReader(SubscribeArguments.groups).read(["-t", "a", name, "value"], into: &settings)
            let error = #expect(throws: ArgumentError.self) { try settings.connection.checkSetup() }
            #expect(error?.message == "The option \(row.names[0]) is not supported." && error?.hint != nil)
        }
    }
}
