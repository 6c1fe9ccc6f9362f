import CourierCore
import MQTTCodec

/// The values of a decoded packet that do not depend on its type.
struct PacketFacts {
    var packetID: UInt16?
    var topic: String?
    var reasons: [MQTTChuckReason] = []
    var properties: PacketProperties = []
    /// True if the packet expects a response.
    var beginsExchange = false

    init(_ packet: Packet, version: ProtocolVersion) {
        switch packet {
        case .connect(let connect):
            properties = connect.properties
            beginsExchange = true
        case .connAck(let connAck):
            properties = connAck.properties
            reasons = [MQTTChuckReason(connAck.reasonCode.rawValue)]
        case .publish(let publish):
            packetID = publish.delivery.packetID?.rawValue
            topic = publish.topic.isEmpty ? nil : publish.topic
            properties = publish.properties
            beginsExchange = packetID != nil
        case .pubAck(let answer), .pubRec(let answer), .pubRel(let answer), .pubComp(let answer):
            packetID = answer.packetID.rawValue
            properties = answer.properties
            // Before MQTT 5, PUBACK, PUBREC, PUBREL and PUBCOMP have no reason code.
            if version >= .v5 { reasons = [MQTTChuckReason(answer.reasonCode.rawValue)] }
            if case .pubRel = packet { beginsExchange = true }
        case .subscribe(let subscribe):
            packetID = subscribe.packetID.rawValue
            topic = subscribe.subscriptions.map(\.filter).joined(separator: ", ")
            properties = subscribe.properties
            beginsExchange = true
        case .subAck(let subAck):
            packetID = subAck.packetID.rawValue
            properties = subAck.properties
            reasons = subAck.reasonCodes.map { code in
                MQTTChuckReason(code.rawValue, name: code == .success ? "Granted QoS 0" : nil)
            }
        case .unsubscribe(let unsubscribe):
            packetID = unsubscribe.packetID.rawValue
            topic = unsubscribe.filters.joined(separator: ", ")
            properties = unsubscribe.properties
            beginsExchange = true
        case .unsubAck(let unsubAck):
            packetID = unsubAck.packetID.rawValue
            properties = unsubAck.properties
            reasons = unsubAck.reasonCodes.map { MQTTChuckReason($0.rawValue) }
        case .pingReq: beginsExchange = true
        case .pingResp: break
        case .disconnect(let disconnect):
            properties = disconnect.properties
            if version >= .v5 {
                let code = disconnect.reasonCode
                reasons = [MQTTChuckReason(code.rawValue, name: code == .success ? "Normal disconnection" : nil)]
            }
        case .auth(let auth):
            properties = auth.properties
            reasons = [MQTTChuckReason(auth.reasonCode.rawValue)]
        }
    }
}
