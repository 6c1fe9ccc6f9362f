import CourierTesting
import MQTTCodec

/// The lines of text that `courier proxy` prints for events. They contain no payloads and no credentials.
struct ProxyLines {
    /// True if one line is printed for each packet.
    let showsPackets: Bool

    func lines(of event: ProxyEvent) -> [String] {
        switch event {
        case .opened(let connection): ["connection \(connection): opened"]
        case .closed(let connection, let reason): ["connection \(connection): ended: \("\(reason)".onOneLine)"]
        case .packet(let packet):
            if !packet.faults.isEmpty {
                packet.faults.map {
                    "connection \(packet.connection): \(Self.deed($0.action)) \(Self.text(packet)) (rule: \($0))"
                        .onOneLine
                }
            } else if showsPackets {
                ["connection \(packet.connection): \(Self.text(packet))".onOneLine]
            } else {
                []
            }
        }
    }

    /// The last line of the command.
    static func summary(_ counts: ProxyCounts) -> String {
        "\(count(counts.connections, "connection")), \(count(counts.packetsFromClients, "packet")) from clients, "
            + "\(count(counts.packetsFromBroker, "packet")) from the broker, \(count(counts.faults, "fault"))."
    }

    private static func count(_ count: Int, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }

    private static func deed(_ action: FaultRule.Action) -> String {
        switch action {
        case .drop: "dropped"
        case .delay: "delayed"
        case .duplicate: "duplicated"
        case .corrupt: "corrupted"
        case .cut(.orderly): "cut at"
        case .cut(.reset): "reset at"
        case .cutAfter(.orderly): "cut after"
        case .cutAfter(.reset): "reset after"
        }
    }

    /// Describes a packet by its type, sender, size and the fields that identify it.
    private static func text(_ packet: ProxiedPacket) -> String {
        var parts = [
            "\(packet.type?.description ?? "a packet of the reserved type 0") from the "
                + (packet.sender == .client ? "client" : "broker")
        ]
        if let topic = packet.topic { parts.append(topic) }
        switch packet.packet {
        case .connect(let connect)?:
            parts.append(connect.clientID.isEmpty ? "no client id" : "client id \(connect.clientID)")
            parts.append("MQTT \(connect.version)")
        case .publish(let publish)?:
            parts.append("QoS \(publish.delivery.qos.rawValue)")
            if publish.delivery.isDuplicate { parts.append("DUP") }
            if let id = publish.delivery.packetID { parts.append("id \(id.rawValue)") }
        case .subscribe(let subscribe)?:
            parts.append("id \(subscribe.packetID.rawValue)")
            parts += subscribe.subscriptions.map(\.filter)
        case .unsubscribe(let unsubscribe)?:
            parts.append("id \(unsubscribe.packetID.rawValue)")
            parts += unsubscribe.filters
        case .pubAck(let answer)?, .pubRec(let answer)?, .pubRel(let answer)?, .pubComp(let answer)?:
            parts.append("id \(answer.packetID.rawValue)")
        case .subAck(let answer)?: parts.append("id \(answer.packetID.rawValue)")
        case .unsubAck(let answer)?: parts.append("id \(answer.packetID.rawValue)")
        case .connAck?, .pingReq?, .pingResp?, .disconnect?, .auth?, nil: break
        }
        parts.append("\(packet.byteCount) bytes")
        return parts.joined(separator: ", ")
    }
}
