/// The identifiers of the 27 properties of MQTT 5 (Table 2-4). The raw value is the identifier byte.
public enum PropertyID: UInt8, CaseIterable, Sendable {
    /// 0x01: whether the payload is UTF-8 text or unspecified bytes.
    case payloadFormatIndicator = 0x01
    /// 0x02: the lifetime of the message in seconds.
    case messageExpiryInterval = 0x02
    /// 0x03: the MIME type of the payload, or another description of it.
    case contentType = 0x03
    /// 0x08: the topic name for the response to the message.
    case responseTopic = 0x08
    /// 0x09: the bytes that match a response to its request.
    case correlationData = 0x09
    /// 0x0B: the identifier of a subscription that the message matched.
    case subscriptionIdentifier = 0x0B
    /// 0x11: the seconds that the session remains after the connection ends.
    case sessionExpiryInterval = 0x11
    /// 0x12: the client identifier that the server chose.
    case assignedClientIdentifier = 0x12
    /// 0x13: the keep-alive that the server chose.
    case serverKeepAlive = 0x13
    /// 0x15: the name of the authentication method of an extended authentication.
    case authenticationMethod = 0x15
    /// 0x16: the data of one step of an extended authentication.
    case authenticationData = 0x16
    /// 0x17: whether the server may add reason strings and user properties to packets that report a failure.
    case requestProblemInformation = 0x17
    /// 0x18: the seconds that the server waits after the connection is lost, before it publishes the will.
    case willDelayInterval = 0x18
    /// 0x19: whether the client requests ``responseInformation`` in CONNACK.
    case requestResponseInformation = 0x19
    /// 0x1A: a text from which the client may build its response topics.
    case responseInformation = 0x1A
    /// 0x1C: another server to which the client may connect.
    case serverReference = 0x1C
    /// 0x1F: the reason for a result, as a text for logs and users.
    case reasonString = 0x1F
    /// 0x21: the maximum number of unacknowledged QoS 1 and 2 messages that the sender of the packet accepts.
    case receiveMaximum = 0x21
    /// 0x22: the highest topic alias that the sender of the packet accepts.
    case topicAliasMaximum = 0x22
    /// 0x23: a number that replaces the topic name.
    case topicAlias = 0x23
    /// 0x24: the highest QoS that the server supports.
    case maximumQoS = 0x24
    /// 0x25: whether the server supports retained messages.
    case retainAvailable = 0x25
    /// 0x26: a name and a value that the application defines.
    case userProperty = 0x26
    /// 0x27: the size of the largest packet that the sender of the packet accepts.
    case maximumPacketSize = 0x27
    /// 0x28: whether the server supports wildcards in topic filters.
    case wildcardSubscriptionAvailable = 0x28
    /// 0x29: whether the server supports subscription identifiers.
    case subscriptionIdentifiersAvailable = 0x29
    /// 0x2A: whether the server supports shared subscriptions.
    case sharedSubscriptionAvailable = 0x2A
}

extension PropertyID {
    /// The wire format of a property value.
    enum ValueKind: Sendable {
        case byte, twoBytes, fourBytes, variableByteInteger, text, binary, textPair
    }

    /// The wire format of the property's value (Table 2-4).
    var kind: ValueKind {
        switch self {
        case .payloadFormatIndicator, .requestProblemInformation, .requestResponseInformation, .maximumQoS,
            .retainAvailable, .wildcardSubscriptionAvailable, .subscriptionIdentifiersAvailable,
            .sharedSubscriptionAvailable:
            .byte
        case .serverKeepAlive, .receiveMaximum, .topicAliasMaximum, .topicAlias: .twoBytes
        case .messageExpiryInterval, .sessionExpiryInterval, .willDelayInterval, .maximumPacketSize: .fourBytes
        case .subscriptionIdentifier: .variableByteInteger
        case .contentType, .responseTopic, .assignedClientIdentifier, .authenticationMethod, .responseInformation,
            .serverReference, .reasonString:
            .text
        case .correlationData, .authenticationData: .binary
        case .userProperty: .textPair
        }
    }

    /// The packets that may contain the property, and whether the will may contain it (Table 2-4).
    var allowedPlaces: PropertyPlaces {
        switch self {
        case .payloadFormatIndicator, .messageExpiryInterval, .contentType, .responseTopic, .correlationData:
            [.publish, .will]
        case .subscriptionIdentifier: [.publish, .subscribe]
        case .sessionExpiryInterval: [.connect, .connAck, .disconnect]
        case .authenticationMethod, .authenticationData: [.connect, .connAck, .auth]
        case .requestProblemInformation, .requestResponseInformation: [.connect]
        case .willDelayInterval: [.will]
        case .assignedClientIdentifier, .serverKeepAlive, .responseInformation, .maximumQoS, .retainAvailable,
            .wildcardSubscriptionAvailable, .subscriptionIdentifiersAvailable, .sharedSubscriptionAvailable:
            [.connAck]
        case .serverReference: [.connAck, .disconnect]
        case .reasonString:
            [.connAck, .pubAck, .pubRec, .pubRel, .pubComp, .subAck, .unsubAck, .disconnect, .auth]
        case .receiveMaximum, .topicAliasMaximum, .maximumPacketSize: [.connect, .connAck]
        case .topicAlias: [.publish]
        case .userProperty: .everywhere
        }
    }

    /// Returns true if `sender` may send the property at `place`. The specification allows some properties for one end
    /// only.
    func maySend(_ sender: Endpoint, at place: PropertyPlaces) -> Bool {
        switch self {
        case .subscriptionIdentifier: place != .publish || sender == .server  // [MQTT-3.3.4-6]
        case .sessionExpiryInterval: place != .disconnect || sender == .client  // [MQTT-3.14.2-2]
        default: true
        }
    }

    /// Returns true if the property may occur more than once at `place`. User properties may repeat everywhere. A
    /// PUBLISH may have one subscription identifier for each subscription that it matched.
    func mayRepeat(at place: PropertyPlaces) -> Bool {
        self == .userProperty || (self == .subscriptionIdentifier && place == .publish)
    }

    /// Returns true if `value` is a valid number for the property.
    func accepts(_ value: UInt32) -> Bool {
        switch self {
        case .payloadFormatIndicator, .requestProblemInformation, .requestResponseInformation, .maximumQoS,
            .retainAvailable, .wildcardSubscriptionAvailable, .subscriptionIdentifiersAvailable,
            .sharedSubscriptionAvailable:
            value <= 1
        case .subscriptionIdentifier: value >= 1 && value <= VariableByteInteger.maximum
        case .receiveMaximum, .maximumPacketSize, .topicAlias: value >= 1
        default: true
        }
    }
}

/// A set of places that hold properties: one place for each packet type, and one for the will inside CONNECT.
struct PropertyPlaces: OptionSet, Sendable {
    let rawValue: UInt16

    static let will = Self(rawValue: 1)
    static let connect = Self(.connect)
    static let connAck = Self(.connAck)
    static let publish = Self(.publish)
    static let pubAck = Self(.pubAck)
    static let pubRec = Self(.pubRec)
    static let pubRel = Self(.pubRel)
    static let pubComp = Self(.pubComp)
    static let subscribe = Self(.subscribe)
    static let subAck = Self(.subAck)
    static let unsubscribe = Self(.unsubscribe)
    static let unsubAck = Self(.unsubAck)
    static let disconnect = Self(.disconnect)
    static let auth = Self(.auth)
    static let everywhere: Self = [
        .will, .connect, .connAck, .publish, .pubAck, .pubRec, .pubRel, .pubComp, .subscribe, .subAck, .unsubscribe,
        .unsubAck, .disconnect, .auth,
    ]

    init(rawValue: UInt16) { self.rawValue = rawValue }
    init(_ packet: PacketType) { rawValue = 1 << UInt16(packet.rawValue) }
}
