import CourierCore
import CourierMQTTChuck
import Foundation

/// All that is known of one packet, for people. Only ``string`` is made harmless for a terminal; the parts are as they came.
struct PacketText {
    /// The packet and where it went, on a line.
    let title: String
    /// What such a packet does.
    let explanation: String
    /// Names and values.
    let facts: [(name: String, value: String)]
    /// The packets that belong together with this one, where there are any, a line for each.
    let exchange: [String]
    private let details: MQTTChuckDetails

    init(_ details: MQTTChuckDetails) {
        self.details = details
        let row = details.row
        let way = row.direction == .outgoing ? "to" : "from"
        title = "\(row.typeName) \(way) \(row.connection.host):\(row.connection.port), packet \(row.number)"
        explanation = details.explanation
        let time = row.time.formatted(
            .iso8601.year().month().day().time(includingFractionalSeconds: true).timeZone(separator: .omitted))
        facts =
            [("time", time), ("client", row.connection.clientID), ("size", "\(row.size) bytes")]
            + details.fields.map { ($0.name, $0.value) }
        exchange =
            details.exchange.count > 1
            ? details.exchange.map { other in
                "\(other.number) \(other.typeName)\(other.elapsed.map { " after \(Examination.text($0))" } ?? "")"
            } : []
    }

    /// Everything, for a terminal.
    var string: String {
        var lines = [title.onOneLine, explanation, ""]
        let width = facts.map(\.name.onOneLine.count).max() ?? 0
        lines += facts.map { name, value in
            let name = name.onOneLine
            return "\(name)\(String(repeating: " ", count: max(0, width - name.count)))  \(value.onOneLine)"
        }
        if !exchange.isEmpty { lines += ["", "Its exchange:"] + exchange.map { "  " + $0.onOneLine } }
        return (lines + ["", details.hexDump]).joined(separator: "\n") + "\n"
    }
}
