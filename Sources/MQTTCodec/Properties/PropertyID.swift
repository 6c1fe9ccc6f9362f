/// The 27 properties of MQTT 5, with the identifier byte as raw value (Table 2-4).
public enum PropertyID: UInt8, CaseIterable, Sendable {
    /// 0x01: whether the payload is UTF-8 text.
    case payloadFormatIndicator = 0x01
    /// 0x02: the seconds after which the message is worth nothing any more.
    case messageExpiryInterval = 0x02
    /// 0x03: the MIME type of the payload, or another description of it.
    case contentType = 0x03
    /// 0x08: the topic name on which the answer is expected.
    case responseTopic = 0x08
    /// 0x09: bytes that tie an answer to its question.
    case correlationData = 0x09
    /// 0x0B: the number of the subscription that a message matched.
    case subscriptionIdentifier = 0x0B
    /// 0x11: the seconds for which the session outlives the connection.
    case sessionExpiryInterval = 0x11
    /// 0x12: the client identifier that the server chose.
    case assignedClientIdentifier = 0x12
    /// 0x13: the keep-alive that the server chose.
    case serverKeepAlive = 0x13
    /// 0x15: the name of the method of an extended authentication.
    case authenticationMethod = 0x15
    /// 0x16: the data of a step of an extended authentication.
    case authenticationData = 0x16
    /// 0x17: whether the client wants reason strings and user properties on failures.
    case requestProblemInformation = 0x17
    /// 0x18: the seconds between the loss of a connection and its will message.
    case willDelayInterval = 0x18
    /// 0x19: whether the client wants ``responseInformation``.
    case requestResponseInformation = 0x19
    /// 0x1A: what the client may build its response topics on.
    case responseInformation = 0x1A
    /// 0x1C: another server to go to.
    case serverReference = 0x1C
    /// 0x1F: a sentence for a person.
    case reasonString = 0x1F
    /// 0x21: how many QoS 1 and 2 messages may be unacknowledged.
    case receiveMaximum = 0x21
    /// 0x22: the highest topic alias.
    case topicAliasMaximum = 0x22
    /// 0x23: a number in place of the topic name.
    case topicAlias = 0x23
    /// 0x24: the highest QoS that the server supports.
    case maximumQoS = 0x24
    /// 0x25: whether the server keeps retained messages.
    case retainAvailable = 0x25
    /// 0x26: a name and a value of the application.
    case userProperty = 0x26
    /// 0x27: the size of the largest packet that is accepted.
    case maximumPacketSize = 0x27
    /// 0x28: whether the server supports wildcards in filters.
    case wildcardSubscriptionAvailable = 0x28
    /// 0x29: whether the server supports subscription identifiers.
    case subscriptionIdentifiersAvailable = 0x29
    /// 0x2A: whether the server supports shared subscriptions.
    case sharedSubscriptionAvailable = 0x2A
}

extension PropertyID {
    /// How the value of a property is written.
    enum ValueKind: Sendable {
        case byte, twoBytes, fourBytes, variableByteInteger, text, binary, textPair
    }

    /// How the value is written (Table 2-4).
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

    /// The places where the property may stand (Table 2-4).
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

    /// Whether `sender` may use the property at `place`, where the specification lets only one end do so.
    func maySend(_ sender: Endpoint, at place: PropertyPlaces) -> Bool {
        switch self {
        case .subscriptionIdentifier: place != .publish || sender == .server  // [MQTT-3.3.4-6]
        case .sessionExpiryInterval: place != .disconnect || sender == .client  // [MQTT-3.14.2-2]
        default: true
        }
    }

    /// Whether the property may stand more than once at `place`: user properties may anywhere, and a PUBLISH names
    /// every subscription that it matched.
    func mayRepeat(at place: PropertyPlaces) -> Bool {
        self == .userProperty || (self == .subscriptionIdentifier && place == .publish)
    }

    /// Whether `value` is one that the property may have.
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

/// The places in packets that hold properties: one in each packet that has any, and the will inside CONNECT.
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
