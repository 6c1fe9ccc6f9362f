import Foundation

/// Runs `courier test`, and decodes its JSON output.
enum TestProgram {
    /// The JSON output of `courier test`.
    struct Report: Decodable {
        struct Probe: Decodable {
            let probe: String
            let state: String
            let text: String
            let clause: String?
            let found: Int?
            let announced: Int?
        }
        struct Limits: Decodable {
            let maximumQoS: Int
        }
        struct Version: Decodable {
            let version: String
            let isComplete: Bool
            let limits: Limits?
            let probes: [Probe]

            subscript(name: String) -> Probe? { probes.first { $0.probe == name } }
            var problems: [Probe] { probes.filter { $0.state == "problem" } }
        }
        let broker: String
        let isConformant: Bool
        let isComplete: Bool
        let versions: [Version]
    }

    /// Runs `courier test`. By default, the time limit is long, because expected answers arrive at once.
    static func test(_ words: [String], timeLimit: Int = 60) async throws -> ProgramRun.Outcome {
        try await ProgramRun([try CourierExecutable.path.get(), "test", "--timeout", "\(timeLimit)"] + words).end()
    }

    static func report(
        _ words: [String], timeLimit: Int = 60
    ) async throws -> (report: Report, code: Int32) {
        let outcome = try await test(words + ["--json"], timeLimit: timeLimit)
        return (try JSONDecoder().decode(Report.self, from: Data(outcome.output)), outcome.code)
    }
}
