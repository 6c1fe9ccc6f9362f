import Testing

@testable import CourierCommands

struct DemoCommandTests {
    @Test func `courier demo prints that all 7 messages arrived once and in order`() async throws {
        let outcome = try await ProgramRun([try CourierExecutable.path.get(), "demo"]).end()
        #expect(outcome.code == 0 && outcome.errors == "", "\(outcome.errors)")
        let lines = outcome.text.split(separator: "\n")
        #expect(lines.count { $0.contains("bob     <- ") } == DemoScript.count)
        #expect(lines.count { $0.contains("lost the connection") } == 2)
        #expect(outcome.text.contains("7 messages were sent, and 7 messages arrived, each exactly once and in order"))
        #expect(!outcome.text.contains("\u{1B}"))
    }

    @Test func `courier demo refuses any option and exits with 1`() async throws {
        let outcome = try await ProgramRun([try CourierExecutable.path.get(), "demo", "--fast"]).end()
        #expect(outcome.code == 1 && outcome.errors.hasPrefix("Error: Unknown option '--fast'."))
    }
}
