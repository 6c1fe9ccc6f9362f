import CourierCore
import CourierMQTTChuck
import Foundation

/// A description of one packet as text. Only ``string`` is escaped for a terminal. All other properties contain
/// unescaped text.
struct PacketText {
    /// The packet type, direction, peer and packet number, on one line.
    let title: String
    /// The purpose of this type of packet.
    let explanation: String
    /// The names and values of the packet's fields.
    let facts: [(name: String, value: String)]
    /// One line for each packet of the same exchange. It is empty if the exchange has no other packets.
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

    /// The complete description, escaped for a terminal.
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
