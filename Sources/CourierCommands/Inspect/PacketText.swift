import CourierCore
import CourierMQTTChuck
import Foundation

/// All that is known of one packet, for people.
struct PacketText {
    let string: String

    init(_ details: MQTTChuckDetails) {
        let row = details.row
        let way = row.direction == .outgoing ? "to" : "from"
        let time = row.time.formatted(.iso8601.year().month().day().time(includingFractionalSeconds: true))
        var lines = [
            "\(row.typeName) \(way) \(row.connection.host.onOneLine):\(row.connection.port), packet \(row.number)",
            details.explanation, "",
        ]
        let facts =
            [("time", time), ("client", row.connection.clientID), ("size", "\(row.size) bytes")]
            + details.fields.map { ($0.name, $0.value) }
        let width = facts.map(\.0.count).max() ?? 0
        lines += facts.map { name, value in
            let name = name.onOneLine
            return "\(name)\(String(repeating: " ", count: max(0, width - name.count)))  \(value.onOneLine)"
        }
        if details.exchange.count > 1 {
            lines += ["", "Its exchange:"]
            lines += details.exchange.map { other in
                "  \(other.number) \(other.typeName)\(other.elapsed.map { " after \(Examination.text($0))" } ?? "")"
            }
        }
        string = (lines + ["", details.hexDump]).joined(separator: "\n") + "\n"
    }
}
