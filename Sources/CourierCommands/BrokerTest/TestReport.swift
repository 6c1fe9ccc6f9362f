import Foundation
import MQTTCodec

/// Formats the results of `courier test` as text or JSON.
enum TestReport {
    private static let titleWidth = 22

    /// Returns a result as one line of text, with a second line for a broken rule or advice.
    static func lines(_ result: TestRun.Result, hasColours: Bool) -> String {
        let outcome = result.outcome
        let rule = outcome.clause.map { "This breaks the rule \($0) of the specification." }
        let advice = [rule, outcome.advice].compactMap(\.self).joined(separator: " ")
        return FindingLine(
            state: outcome.state, title: result.title, titleWidth: titleWidth, text: outcome.text,
            advice: advice.isEmpty ? nil : advice
        ).text(hasColours: hasColours)
    }

    /// Returns the last line of the text output.
    static func summary(_ run: TestRun) -> String {
        let results = run.versionResults.flatMap(\.results)
        let problems = results.count { $0.outcome.state == .problem }
        let notes = results.count { $0.outcome.state == .notice }
        let counts = "\(count(results.count, "probe")), \(count(problems, "problem")), \(count(notes, "note"))"
        if run.isInterrupted { return "\nThe test was interrupted after \(counts).\n" }
        if run.versionResults.allSatisfy({ !$0.isComplete }) { return "\nThe broker cannot be tested.\n" }
        let verdict =
            problems > 0 ? "The broker has problems" : "The broker does what the specification requires"
        return "\n\(verdict): \(counts).\n"
    }

    private static func count(_ number: Int, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }

    /// Returns the complete result as one JSON object.
    static func json(_ run: TestRun, place: String) throws -> String {
        struct Probe: Encodable {
            let probe: String
            let state: String
            let text: String
            let clause: String?
            let advice: String?
            let found: Int?
            let announced: Int?
        }
        struct Version: Encodable {
            let version: String
            let isComplete: Bool
            let limits: AnnouncedLimits?
            let probes: [Probe]
        }
        struct Report: Encodable {
            let broker: String
            let isConformant: Bool
            let isComplete: Bool
            let versions: [Version]
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes, .prettyPrinted]
        let report = Report(
            broker: place, isConformant: run.isComplete && run.problem == nil, isComplete: run.isComplete,
            versions: run.versionResults.map { part in
                Version(
                    version: part.version.shortName, isComplete: part.isComplete, limits: part.limits,
                    probes: part.results.map { result in
                        let outcome = result.outcome
                        return Probe(
                            probe: result.name, state: outcome.state.rawValue, text: outcome.text,
                            clause: outcome.clause, advice: outcome.advice, found: outcome.found,
                            announced: outcome.announced)
                    })
            })
        return String(decoding: try encoder.encode(report), as: UTF8.self) + "\n"
    }
}

extension ProtocolVersion {
    /// The version as people write it: `3.1.1` or `5`.
    var shortName: String {
        switch self {
        case .v31: "3.1"
        case .v311: "3.1.1"
        case .v5: "5"
        }
    }
}
