import CourierCore
import MQTTCodec

/// Lists the decoded fields of a packet.
enum PacketFields {
    static func fields(_ packet: Packet, _ row: MQTTChuckRow) -> [MQTTChuckField] {
        var fields: [MQTTChuckField] = []
        switch packet {
        case .connect(let connect): fields = self.fields(connect, row.connection)
        case .connAck(let connAck): fields.append(MQTTChuckField("session present", yes(connAck.isSessionPresent)))
        case .publish(let publish):
            fields.append(MQTTChuckField("topic", row.topic ?? "alias \(row.topicAlias ?? 0) of an unknown topic"))
            fields.append(MQTTChuckField("QoS", "\(publish.delivery.qos.rawValue)"))
            fields.append(MQTTChuckField("duplicate", yes(row.isDuplicate)))
            fields.append(MQTTChuckField("retain", yes(publish.isRetained)))
        case .subscribe(let subscribe):
            fields = subscribe.subscriptions.map { subscription in
                var options = "QoS \(subscription.qos.rawValue)"
                if subscription.isNoLocal { options += ", no local" }
                if subscription.isRetainAsPublished { options += ", retain as published" }
                if row.connection.protocolVersion == .v5 {
                    options += ", retain handling \(subscription.retainHandling.rawValue)"
                }
                return MQTTChuckField("filter", "\(subscription.filter) (\(options))")
            }
        case .unsubscribe(let unsubscribe): fields = unsubscribe.filters.map { MQTTChuckField("filter", $0) }
        case .pubAck, .pubRec, .pubRel, .pubComp, .subAck, .unsubAck, .pingReq, .pingResp, .disconnect, .auth: break
        }
        if let id = row.packetID { fields.append(MQTTChuckField("packet id", "\(id)")) }
        fields += row.reasons.map { MQTTChuckField("reason", $0.description) }
        fields += row.properties.map {
            MQTTChuckField($0.isUserProperty ? "user property \($0.name)" : $0.name, $0.value)
        }
        if let context = row.traceContext { fields.append(MQTTChuckField("trace id", context.traceID)) }
        if let size = row.payloadSize { fields.append(MQTTChuckField("payload", "\(size) bytes")) }
        return fields
    }

    private static func fields(_ connect: Connect, _ connection: MQTTChuckConnection) -> [MQTTChuckField] {
        var fields = [
            MQTTChuckField("host", connection.host), MQTTChuckField("port", "\(connection.port)"),
            MQTTChuckField("scheme", connection.scheme ?? "the client's choice"),
            MQTTChuckField("ALPN", connection.alpn.isEmpty ? "none" : connection.alpn.joined(separator: ", ")),
            MQTTChuckField("protocol", "MQTT \(connect.version)"), MQTTChuckField("client id", connect.clientID),
            MQTTChuckField(connect.version >= .v5 ? "clean start" : "clean session", yes(connect.isCleanStart)),
            MQTTChuckField("keep alive", "\(connect.keepAlive) s"),
        ]
        if let username = connect.username { fields.append(MQTTChuckField("user name", username)) }
        fields.append(MQTTChuckField("password", connect.password == nil ? "none" : "hidden"))
        if let will = connect.will {
            fields.append(MQTTChuckField("will topic", will.topic))
            let retain = will.isRetained ? ", retained" : ""
            fields.append(MQTTChuckField("will", "\(will.payload.count) bytes, QoS \(will.qos.rawValue)\(retain)"))
            fields += will.properties.list.map(MQTTChuckProperty.init).map {
                MQTTChuckField($0.isUserProperty ? "will user property \($0.name)" : "will \($0.name)", $0.value)
            }
        }
        return fields
    }

    private static func yes(_ flag: Bool) -> String { flag ? "yes" : "no" }
}

extension PacketType {
    /// One sentence that says what a packet of this type does.
    var explanation: String {
        switch self {
        case .connect: "The client asks for a connection."
        case .connAck: "The broker accepts or refuses the connection."
        case .publish: "A message, from the client to the broker or from the broker to a subscriber."
        case .pubAck: "The receiver has accepted a QoS 1 message; the exchange is complete."
        case .pubRec: "The receiver has accepted a QoS 2 message and asks for its release."
        case .pubRel: "The sender releases a QoS 2 message."
        case .pubComp: "The receiver has released a QoS 2 message; the exchange is complete."
        case .subscribe: "The client subscribes to topic filters."
        case .subAck: "The broker grants or refuses each filter."
        case .unsubscribe: "The client unsubscribes from topic filters."
        case .unsubAck: "The broker has ended subscriptions."
        case .pingReq: "The client asks whether the broker still answers."
        case .pingResp: "The broker answers a PINGREQ."
        case .disconnect: "The last packet of a connection."
        case .auth: "A step of an enhanced authentication."
        }
    }
}
