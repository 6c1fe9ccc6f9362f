/// The 15 types of MQTT control packets. The raw value is the type in the high four bits of the fixed header.
public enum PacketType: UInt8, CaseIterable, Sendable {
    /// CONNECT: a client requests a connection.
    case connect = 1
    /// CONNACK: the server accepts or refuses the connection.
    case connAck
    /// PUBLISH: a message, in either direction.
    case publish
    /// PUBACK: the acknowledgement of a QoS 1 PUBLISH.
    case pubAck
    /// PUBREC: the first acknowledgement of a QoS 2 PUBLISH.
    case pubRec
    /// PUBREL: the reply to PUBREC.
    case pubRel
    /// PUBCOMP: the reply to PUBREL, which completes a QoS 2 exchange.
    case pubComp
    /// SUBSCRIBE: a client requests the messages that match topic filters.
    case subscribe
    /// SUBACK: the server's result for each filter of a SUBSCRIBE.
    case subAck
    /// UNSUBSCRIBE: a client ends subscriptions.
    case unsubscribe
    /// UNSUBACK: the server's reply to UNSUBSCRIBE.
    case unsubAck
    /// PINGREQ: a client checks whether the server still responds.
    case pingReq
    /// PINGRESP: the server's reply to PINGREQ.
    case pingResp
    /// DISCONNECT: the last packet of a connection.
    case disconnect
    /// AUTH: one step of an extended authentication (MQTT 5 only).
    case auth

    /// The flags that the fixed header of this type must have; `nil` for PUBLISH, whose flags vary.
    var requiredFlags: UInt8? {
        switch self {
        case .publish: nil
        case .pubRel, .subscribe, .unsubscribe: 0b0010
        case .connect, .connAck, .pubAck, .pubRec, .pubComp, .subAck, .unsubAck, .pingReq, .pingResp, .disconnect,
            .auth:
            0b0000
        }
    }

    /// Returns true if `endpoint` may send this packet type in `version`.
    func maySend(_ endpoint: Endpoint, in version: ProtocolVersion) -> Bool {
        switch self {
        case .connect, .subscribe, .unsubscribe, .pingReq: endpoint == .client
        case .connAck, .subAck, .unsubAck, .pingResp: endpoint == .server
        case .publish, .pubAck, .pubRec, .pubRel, .pubComp, .auth: true
        case .disconnect: version >= .v5 || endpoint == .client
        }
    }
}

extension PacketType: CustomStringConvertible {
    /// The name that the specification uses, such as `PUBACK`.
    public var description: String {
        switch self {
        case .connect: "CONNECT"
        case .connAck: "CONNACK"
        case .publish: "PUBLISH"
        case .pubAck: "PUBACK"
        case .pubRec: "PUBREC"
        case .pubRel: "PUBREL"
        case .pubComp: "PUBCOMP"
        case .subscribe: "SUBSCRIBE"
        case .subAck: "SUBACK"
        case .unsubscribe: "UNSUBSCRIBE"
        case .unsubAck: "UNSUBACK"
        case .pingReq: "PINGREQ"
        case .pingResp: "PINGRESP"
        case .disconnect: "DISCONNECT"
        case .auth: "AUTH"
        }
    }
}
