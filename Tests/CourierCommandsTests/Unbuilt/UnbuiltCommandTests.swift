import CommandArguments
import Testing

@testable import CourierCommands

struct UnbuiltCommandTests {
    @Test(arguments: ["chat"])
    func `a command that is not built is refused by its name, with a hint, and not listed`(name: String) async throws {
        #expect(!CourierProgram.commands.contains { $0.summary.name == name })
        let outcome = try await ProgramRun([try CourierExecutable.path.get(), name, "--help"]).end()
        #expect(outcome.code == 1 && outcome.output.isEmpty)
        #expect(outcome.errorLines.first == "Error: The command '\(name)' is not in this version.")
        #expect(outcome.errorLines.count == 2)
    }
}
