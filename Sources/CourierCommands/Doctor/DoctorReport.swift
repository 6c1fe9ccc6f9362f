import CourierTransport
import Foundation

/// Formats the findings of the doctor as text or JSON.
enum DoctorReport {
    /// Returns a finding as one line of text, and its advice as a second line.
    static func lines(_ finding: Finding, hasColours: Bool) -> String {
        FindingLine(
            state: finding.state, title: finding.check.title, titleWidth: 10, text: finding.text,
            advice: finding.advice
        ).text(hasColours: hasColours)
    }

    /// Returns the last line of the text output.
    static func summary(_ record: Examination.Record) -> String {
        if let problem = record.problem {
            return "\nThe broker cannot be used. Failed check: \(problem.check.title).\n"
        }
        let count = record.findings.count { $0.state == .notice }
        return count == 0
            ? "\nNo problem was found.\n"
            : "\nThe broker can be used, with \(count) \(count == 1 ? "note" : "notes").\n"
    }

    /// Returns the complete result as one JSON object.
    static func json(_ record: Examination.Record, place: String) throws -> String {
        struct Check: Encodable {
            let check: String
            let state: String
            let text: String
            let advice: String?
        }
        struct Certificate: Encodable {
            let subject: String
            let issuer: String
            let names: [String]
            let notBefore: Date
            let notAfter: Date
            let daysLeft: Int
            let isSelfSigned: Bool
        }
        struct Report: Encodable {
            let broker: String
            let isUsable: Bool
            let checks: [Check]
            let certificates: [Certificate]
            let limits: AnnouncedLimits?
            let roundTripsInMilliseconds: [Double]
        }
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .iso8601
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes, .prettyPrinted]
        let report = Report(
            broker: place, isUsable: record.problem == nil,
            checks: record.findings.map {
                Check(check: $0.check.rawValue, state: $0.state.rawValue, text: $0.text, advice: $0.advice)
            },
            certificates: record.certificates.map { review in
                review.chain.certificates.map {
                    Certificate(
                        subject: $0.subject, issuer: $0.issuer, names: $0.names,
                        notBefore: Date(timeIntervalSince1970: Double($0.notBefore)),
                        notAfter: Date(timeIntervalSince1970: Double($0.notAfter)), daysLeft: review.daysLeft($0),
                        isSelfSigned: $0.isSelfSigned)
                }
            } ?? [], limits: record.limits,
            roundTripsInMilliseconds: record.roundTrips.map {
                (Examination.milliseconds($0) * 1_000).rounded() / 1_000
            })
        return String(decoding: try encoder.encode(report), as: UTF8.self) + "\n"
    }
}
