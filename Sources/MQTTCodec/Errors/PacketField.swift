/// The part of a packet that an error is about.
public enum PacketField: Hashable, Sendable {
    /// The first byte of the packet, which holds the type and the flags.
    case fixedHeader
    /// The remaining length, which follows the first byte.
    case remainingLength
    /// The end of the packet, where no more bytes may follow.
    case end
    /// The protocol name in CONNECT: `MQTT` or `MQIsdp`.
    case protocolName
    /// The version byte in CONNECT.
    case protocolVersion
    /// The flags in CONNECT.
    case connectFlags
    /// The keep-alive in CONNECT.
    case keepAlive
    /// The client identifier in CONNECT.
    case clientID
    /// The topic of the will message in CONNECT.
    case willTopic
    /// The payload of the will message in CONNECT.
    case willPayload
    /// The user name in CONNECT.
    case username
    /// The password in CONNECT.
    case password
    /// The flags in CONNACK.
    case acknowledgeFlags
    /// A reason code or return code.
    case reasonCode
    /// The packet id.
    case packetID
    /// The topic name in PUBLISH.
    case topicName
    /// The payload of a PUBLISH.
    case payload
    /// A topic filter in SUBSCRIBE or UNSUBSCRIBE.
    case topicFilter
    /// The options after a filter in SUBSCRIBE.
    case subscriptionOptions
    /// The length of a list of properties.
    case propertyLength
    /// A list of properties.
    case properties
    /// One property.
    case property(PropertyID)
}

extension PacketField: CustomStringConvertible {
    /// The name of the field for error messages.
    public var description: String {
        switch self {
        case .fixedHeader: "fixed header"
        case .remainingLength: "remaining length"
        case .end: "end of the packet"
        case .protocolName: "protocol name"
        case .protocolVersion: "protocol version"
        case .connectFlags: "connect flags"
        case .keepAlive: "keep-alive"
        case .clientID: "client identifier"
        case .willTopic: "will topic"
        case .willPayload: "will payload"
        case .username: "user name"
        case .password: "password"
        case .acknowledgeFlags: "acknowledge flags"
        case .reasonCode: "reason code"
        case .packetID: "packet id"
        case .topicName: "topic name"
        case .payload: "payload"
        case .topicFilter: "topic filter"
        case .subscriptionOptions: "subscription options"
        case .propertyLength: "property length"
        case .properties: "properties"
        case .property(let id): "property \(id)"
        }
    }
}
