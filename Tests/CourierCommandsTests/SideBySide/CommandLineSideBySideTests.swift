import Foundation
import Testing

/// Runs every line of the ``CommandLineTable`` with mosquitto's clients and with courier.
struct CommandLineSideBySideTests {
    /// The number of lines that run at the same time. Most of them wait for a broker.
    private static let width = 8

    @Test func `output and exit code equal those of mosquitto, except for the listed differences`() async throws {
        let differences = CommandLineTable.differences
        #expect(Set(CommandLineTable.equal).count >= 550 && differences.count <= 10)
        #expect(Set(differences.flatMap(\.lines)).isDisjoint(with: CommandLineTable.equal))
        let stage = try await CommandLineStage()
        let lines = CommandLineTable.equal + differences.flatMap(\.lines)
        let outcomes = try await withThrowingTaskGroup(
            of: (String, ProgramRun.Outcome, ProgramRun.Outcome).self
        ) { group in
            var outcomes: [String: (theirs: ProgramRun.Outcome, ours: ProgramRun.Outcome)] = [:]
            for (number, text) in lines.enumerated() {
                if number >= Self.width, let (text, theirs, ours) = try await group.next() {
                    outcomes[text] = (theirs, ours)
                }
                group.addTask {
                    // The two programs run one after the other, because they may use the same client id.
                    let line = TypedLine(text)
                    let theirs = try await stage.outcome(of: line, by: .mosquitto)
                    return (text, theirs, try await stage.outcome(of: line, by: .courier))
                }
            }
            for try await (text, theirs, ours) in group { outcomes[text] = (theirs, ours) }
            return outcomes
        }
        for line in CommandLineTable.equal {
            let outcome = try #require(outcomes[line])
            #expect(outcome.ours == outcome.theirs, "\(line)")
        }
        for line in differences.flatMap(\.lines) {
            let outcome = try #require(outcomes[line])
            #expect(outcome.ours != outcome.theirs, "\(line) is equal now: move it to `equal`")
        }
        await stage.remove()
    }

    @Test func `the page of the command line lists the same differences from mosquitto as the table in the code`()
        throws
    {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let page = try String(
            contentsOf: root.appendingPathComponent("docs/reference/command-line.md"), encoding: .utf8)
        let rows = CommandLineTable.differences.map { "| `\($0.lines[0])` | \($0.reason) |\n" }
        #expect(page.contains("| --- | --- |\n" + rows.joined() + "\n"))
    }
}
