public import Foundation
import MQTTCodec

/// A query that selects rows. A row matches if it fulfills all conditions of the query.
///
/// ```swift
/// let query = try MQTTChuckQuery("type:publish dir:in topic:orders/# qos:>0 -client:test after:10:00 \"free text\"")
/// ```
///
/// ``help`` describes the whole query language in one line. A search for text ignores the case of the letters A to Z.
public struct MQTTChuckQuery: Sendable {
    /// A one-line description of the query language, to show below a search box.
    public static let help = """
        type:publish,puback dir:in|out topic:orders/# qos:>0 client:abc conn:7 id:12 row:>100 size:>1k took:>50ms \
        reason:0x87 trace:4bf92f35 retain:yes dup:yes after:10:00 before:2026-01-31T12:00 errors word "free text" – all must hold, \
        - negates
        """

    /// A query that matches every row.
    public static let all = MQTTChuckQuery()

    /// The text that the query was parsed from.
    public let text: String

    private let terms: [QueryTerm]

    private init() {
        text = ""
        terms = []
    }

    /// Parses a query.
    ///
    /// - Parameters:
    ///   - text: The conditions, written as in ``help``. An empty text matches all rows.
    ///   - timeZone: The time zone of the times in the query; the system's time zone by default.
    /// - Throws: ``MQTTChuckQueryError`` with the column of the error and the correct form.
    public init(_ text: String, timeZone: TimeZone = .current) throws(MQTTChuckQueryError) {
        self.text = text
        terms = try QueryParser(text, timeZone).terms()
    }

    /// True if the query matches every row.
    public var isEmpty: Bool { terms.isEmpty }

    /// True if the query has a condition on the duration of exchanges. Rows then need ``RawRow/roundTrip``.
    var needsRoundTrips: Bool {
        terms.contains { if case .roundTrip = $0.condition { true } else { false } }
    }

    func matches(_ raw: RawRow, _ reader: RowReader) -> Bool {
        for term in terms where term.condition.holds(raw, reader) == term.isNegated { return false }
        return true
    }
}
