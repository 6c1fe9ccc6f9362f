/// Any MQTT packet. The value contains copies of all fields, so it stays valid without the received bytes.
public enum Packet: Hashable, Sendable {
    /// A client requests a connection.
    indirect case connect(Connect)
    /// The server accepts or refuses the connection.
    case connAck(ConnAck)
    /// A message, in either direction.
    case publish(Publish)
    /// The acknowledgement of a QoS 1 message.
    case pubAck(Acknowledgement)
    /// The first acknowledgement of a QoS 2 message.
    case pubRec(Acknowledgement)
    /// The reply to PUBREC.
    case pubRel(Acknowledgement)
    /// The reply to PUBREL, which completes a QoS 2 exchange.
    case pubComp(Acknowledgement)
    /// A client requests the messages that match topic filters.
    case subscribe(Subscribe)
    /// The server's result for each filter of a SUBSCRIBE.
    case subAck(SubAck)
    /// A client ends subscriptions.
    case unsubscribe(Unsubscribe)
    /// The server's reply to UNSUBSCRIBE.
    case unsubAck(UnsubAck)
    /// A client checks whether the server still responds.
    case pingReq
    /// The server's reply to PINGREQ.
    case pingResp
    /// The last packet of a connection.
    case disconnect(Disconnect)
    /// One step of an extended authentication (MQTT 5 only).
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
