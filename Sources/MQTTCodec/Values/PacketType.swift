/// The 15 MQTT control packets, with the type bits of the fixed header as raw value.
public enum PacketType: UInt8, CaseIterable, Sendable {
    /// CONNECT: a client asks for a connection.
    case connect = 1
    /// CONNACK: the server accepts or refuses it.
    case connAck
    /// PUBLISH: a message, in either direction.
    case publish
    /// PUBACK: the answer to a QoS 1 PUBLISH.
    case pubAck
    /// PUBREC: the first answer to a QoS 2 PUBLISH.
    case pubRec
    /// PUBREL: the answer to PUBREC.
    case pubRel
    /// PUBCOMP: the answer to PUBREL, which ends a QoS 2 exchange.
    case pubComp
    /// SUBSCRIBE: a client asks for messages.
    case subscribe
    /// SUBACK: the server's answer for each filter.
    case subAck
    /// UNSUBSCRIBE: a client wants no more of them.
    case unsubscribe
    /// UNSUBACK: the server's answer.
    case unsubAck
    /// PINGREQ: a client asks whether the server is still there.
    case pingReq
    /// PINGRESP: it is.
    case pingResp
    /// DISCONNECT: the last packet of a connection.
    case disconnect
    /// AUTH: a step of an extended authentication; MQTT 5 only.
    case auth

    /// The only flags that the fixed header of this type may carry, or `nil` for PUBLISH, whose flags mean something.
    var requiredFlags: UInt8? {
        switch self {
        case .publish: nil
        case .pubRel, .subscribe, .unsubscribe: 0b0010
        case .connect, .connAck, .pubAck, .pubRec, .pubComp, .subAck, .unsubAck, .pingReq, .pingResp, .disconnect,
            .auth:
            0b0000
        }
    }

    /// Says whether `endpoint` may send this type in `version`.
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
