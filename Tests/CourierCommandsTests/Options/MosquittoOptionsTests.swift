import CommandArguments
import Foundation
import Testing

@testable import CourierCommands

struct MosquittoOptionsTests {
    private static let table = MosquittoOptions(CourierProgram.commands.map(\.summary))

    @Test func `every option in mosquitto's manual pages is either supported or explicitly refused`() {
        #expect(Self.table.rows.count > 70)
        for row in Self.table.rows { #expect(row.outcome != nil, "\(row.names)") }
    }

    @Test func `the option table in the documentation equals the table generated from the code`() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let page = try String(
            contentsOf: root.appendingPathComponent("docs/reference/command-line.md"), encoding: .utf8)
        #expect(page.contains("\n" + Self.table.markdown), "courier --generate-option-table prints the table")
    }

    @Test func `the option names of each command are unique`() {
        for command in CourierProgram.commands {
            let names = command.summary.options.flatMap(\.names.all)
            #expect(Set(names).count == names.count, "\(command.summary.name)")
        }
    }

    @Test(arguments: Self.table.rows.filter { if case .refused? = $0.outcome { true } else { false } })
    func `an unsupported mosquitto option is refused with an error that names the option and gives a hint`(
        row: MosquittoOptions.Row
    ) throws {
        for name in row.names {
            var settings = SubscribeArguments()
            try ArgumentReader(SubscribeArguments.groups).read(["-t", "a", name, "value"], into: &settings)
            let error = #expect(throws: ArgumentError.self) { try settings.connection.checkSetup() }
            #expect(error?.message == "The option \(row.names[0]) is not supported." && error?.hint != nil)
        }
    }
}
