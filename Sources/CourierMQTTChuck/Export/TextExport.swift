import CourierCore
import Foundation
import MQTTCodec

/// Formats each packet as one line of text.
struct TextExport {
    func line(_ row: MQTTChuckRow) -> String {
        var parts = [
            "#\(row.number)", WrittenTime.text(row.timeNanoseconds), row.direction == .outgoing ? "->" : "<-",
            Self.place(row.connection),
            row.typeName,
        ]
        if let id = row.packetID { parts.append("id \(id)") }
        if let qos = row.qos { parts.append("QoS \(qos.rawValue)") }
        if row.isDuplicate { parts.append("DUP") }
        if row.isRetained { parts.append("RETAIN") }
        if let topic = row.topic { parts.append(Self.oneLine(topic)) }
        if let alias = row.topicAlias { parts.append("(alias \(alias))") }
        parts += row.reasons.map(\.description)
        parts += row.properties.map { "[\(Self.oneLine($0.name)): \(Self.oneLine($0.value))]" }
        parts.append("\(row.size) bytes")
        if let roundTrip = row.roundTrip {
            parts.append("\(row.exchange == row.number ? "took" : "after") \(Self.milliseconds(roundTrip))")
        }
        if let problem = row.problem { parts.append("! \(problem)") }
        if row.preview.kind != .empty {
            parts.append("| \(Self.oneLine(row.preview.text))\(row.preview.isCut ? "…" : "")")
        }
        return parts.joined(separator: " ")
    }

    /// Returns the client id, the broker's host and port, and the ordinal number of this connection of the client.
    private static func place(_ connection: MQTTChuckConnection) -> String {
        "\(oneLine(connection.clientID))@\(oneLine(connection.host)):\(connection.port)/\(connection.ordinal)"
    }

    static func milliseconds(_ duration: Duration) -> String {
        let microseconds = Nanoseconds.of(duration) / 1_000
        let rest = String(microseconds % 1_000)
        return "\(microseconds / 1_000).\(String(repeating: "0", count: 3 - rest.count))\(rest) ms"
    }

    /// Returns text from the network as one line, without characters that could move the cursor of a terminal.
    static func oneLine(_ text: String) -> String {
        var line = ""
        for scalar in text.unicodeScalars {
            let isControl = scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value)
            if scalar == "\n" || scalar == "\t" || scalar == "\r" {
                line += " "
            } else if isControl || scalar.properties.generalCategory == .format {
                line += "\\u{\(String(scalar.value, radix: 16))}"
            } else {
                line.unicodeScalars.append(scalar)
            }
        }
        return line
    }
}
