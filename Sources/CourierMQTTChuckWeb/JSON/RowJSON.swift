import CourierCore
import CourierMQTTChuck
import Foundation
import MQTTCodec

/// A row as JSON for the list of the page. Members without a value are left out.
struct RowJSON: Encodable, Sendable {
    /// The number of Unicode scalars after which a topic or a preview is cut.
    static let textLimit = 200

    struct Reason: Encodable, Sendable {
        let code: UInt8
        let name: String
        let isError: Bool
    }

    let number: UInt64
    /// The time of the packet, in milliseconds since 1970.
    let time: Double
    let isOutgoing: Bool
    let type: String
    let connection: UInt64
    let ordinal: Int
    let client: String
    let size: Int
    let isError: Bool
    let problem: String?
    let packetID: UInt16?
    let qos: UInt8?
    let isDuplicate: Bool?
    let isRetained: Bool?
    let topic: String?
    let payloadSize: Int?
    let preview: String?
    let reasons: [Reason]?
    /// The trace id of a PUBLISH.
    let trace: String?
    let exchange: UInt64?
    /// Milliseconds since the exchange began.
    let elapsed: Double?
    /// The duration of the whole exchange in milliseconds.
    let roundTrip: Double?

    init(_ row: MQTTChuckRow) {
        number = row.number
        time = Double(row.timeNanoseconds) / 1e6
        isOutgoing = row.direction == .outgoing
        type = row.typeName
        connection = row.connection.id
        ordinal = row.connection.ordinal
        client = row.connection.clientID.cut(Self.textLimit)
        size = row.size
        isError = row.isError
        problem = row.problem?.cut(Self.textLimit)
        packetID = row.packetID
        qos = row.qos?.rawValue
        isDuplicate = row.isDuplicate ? true : nil
        isRetained = row.isRetained ? true : nil
        topic = row.topic?.cut(Self.textLimit)
        payloadSize = row.payloadSize
        preview = row.preview.kind == .empty ? nil : row.preview.text.cut(Self.textLimit)
        reasons =
            row.reasons.isEmpty
            ? nil : row.reasons.prefix(16).map { Reason(code: $0.code, name: $0.name, isError: $0.isError) }
        trace = row.traceContext?.traceID
        exchange = row.exchange
        elapsed = row.elapsed?.milliseconds
        roundTrip = row.roundTrip?.milliseconds
    }
}

/// A page of rows, as JSON.
struct PageJSON: Encodable, Sendable {
    let rows: [RowJSON]
    /// The row number at which the next request continues, see ``MQTTChuckPage/next``.
    let next: UInt64
    let firstRow: UInt64
    let nextRow: UInt64
    let clearCount: UInt64
    /// The row number from which the web page must load rows again, because exchanges of earlier rows have ended. `nil`
    /// if the page need not load rows again.
    let again: UInt64?

    init(_ page: MQTTChuckPage, again: UInt64? = nil) {
        rows = page.rows.map(RowJSON.init)
        next = page.next
        firstRow = page.summary.firstRow
        nextRow = page.summary.nextRow
        clearCount = page.summary.clearCount
        self.again = again
    }
}

extension String {
    /// Returns the first `limit` Unicode scalars, followed by an ellipsis if the text is longer.
    ///
    /// The limit counts scalars, because a single character may consist of any number of combining marks.
    func cut(_ limit: Int) -> String {
        // A text with at most `limit` bytes also has at most `limit` scalars. So its scalars need not be counted, which
        // would read the whole text.
        if utf8.count <= limit { return self }
        let part = unicodeScalars.prefix(limit)
        return part.endIndex == endIndex ? self : String(part) + "…"
    }
}
