/// Any MQTT packet, as a value of its own that holds copies of what it carries.
public enum Packet: Hashable, Sendable {
    /// A client asks for a connection.
    indirect case connect(Connect)
    /// The server accepts or refuses it.
    case connAck(ConnAck)
    /// A message.
    case publish(Publish)
    /// The answer to a QoS 1 message.
    case pubAck(Acknowledgement)
    /// The first answer to a QoS 2 message.
    case pubRec(Acknowledgement)
    /// The answer to PUBREC.
    case pubRel(Acknowledgement)
    /// The answer to PUBREL.
    case pubComp(Acknowledgement)
    /// A client asks for messages.
    case subscribe(Subscribe)
    /// The server's answer for each filter.
    case subAck(SubAck)
    /// A client wants no more of them.
    case unsubscribe(Unsubscribe)
    /// The server's answer.
    case unsubAck(UnsubAck)
    /// A client asks whether the server is still there.
    case pingReq
    /// It is.
    case pingResp
    /// The last packet of a connection.
    case disconnect(Disconnect)
    /// A step of an extended authentication.
    case auth(Auth)

    /// The type of the packet.
    public var type: PacketType {
        switch self {
        case .connect: .connect
        case .connAck: .connAck
        case .publish: .publish
        case .pubAck: .pubAck
        case .pubRec: .pubRec
        case .pubRel: .pubRel
        case .pubComp: .pubComp
        case .subscribe: .subscribe
        case .subAck: .subAck
        case .unsubscribe: .unsubscribe
        case .unsubAck: .unsubAck
        case .pingReq: .pingReq
        case .pingResp: .pingResp
        case .disconnect: .disconnect
        case .auth: .auth
        }
    }
}
