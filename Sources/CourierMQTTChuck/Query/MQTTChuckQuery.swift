public import Foundation
import MQTTCodec

/// Which rows are wanted: words that must all hold.
///
/// ```swift
/// let query = try MQTTChuckQuery("type:publish dir:in topic:orders/# qos:>0 -client:test after:10:00 \"free text\"")
/// ```
///
/// ``help`` is the whole language in a line.
public struct MQTTChuckQuery: Sendable {
    /// The language, for a line below a search box.
    public static let help = """
        type:publish,puback dir:in|out topic:orders/# qos:>0 client:abc conn:7 id:12 row:>100 size:>1k took:>50ms \
        reason:0x87 retain:yes dup:yes after:10:00 before:2026-01-31T12:00 errors word "free text" – all must hold, \
        - negates
        """

    /// Holds for every row.
    public static let all = MQTTChuckQuery()

    /// What it was read from.
    public let text: String

    private let terms: [QueryTerm]

    private init() {
        text = ""
        terms = []
    }

    /// Reads a query.
    ///
    /// - Parameters:
    ///   - text: Words as ``help`` shows them; empty means all rows.
    ///   - timeZone: What times of day are meant in; that of the system by default.
    /// - Throws: ``MQTTChuckQueryError`` with the column and what would be right.
    public init(_ text: String, timeZone: TimeZone = .current) throws(MQTTChuckQueryError) {
        self.text = text
        terms = try QueryParser(text, timeZone).terms()
    }

    /// Whether it holds for every row.
    public var isEmpty: Bool { terms.isEmpty }

    /// Whether it asks how long exchanges took, so that rows need ``RawRow/roundTrip``.
    var needsRoundTrips: Bool {
        terms.contains { if case .roundTrip = $0.condition { true } else { false } }
    }

    func matches(_ raw: RawRow, _ reader: RowReader) -> Bool {
        for term in terms where term.condition.holds(raw, reader) == term.isNegated { return false }
        return true
    }
}
