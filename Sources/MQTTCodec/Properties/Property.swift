/// One property of an MQTT 5 packet with its value.
public enum Property: Hashable, Sendable {
    /// The format of the payload: UTF-8 text (`true`) or unspecified bytes (`false`).
    case payloadFormatIndicator(isText: Bool)
    /// The lifetime of the message in seconds. After this time, the message is not delivered any more.
    case messageExpiryInterval(UInt32)
    /// The MIME type of the payload, or another description of it.
    case contentType(String)
    /// The topic name for the response to this message, without wildcards.
    case responseTopic(String)
    /// The bytes that match a response to its request.
    case correlationData([UInt8])
    /// The identifier of a subscription that the message matched: 1 to 268,435,455.
    case subscriptionIdentifier(UInt32)
    /// The seconds that the session remains after the connection ends. 0xFFFFFFFF means forever.
    case sessionExpiryInterval(UInt32)
    /// The client identifier that the server chose.
    case assignedClientIdentifier(String)
    /// The keep-alive that the server chose, in seconds.
    case serverKeepAlive(UInt16)
    /// The name of the authentication method of an extended authentication.
    case authenticationMethod(String)
    /// The data of one step of an extended authentication.
    case authenticationData(SecretBytes)
    /// True if the server may add reason strings and user properties to packets that report a failure.
    case requestProblemInformation(Bool)
    /// The seconds that the server waits after the connection is lost, before it publishes the will.
    case willDelayInterval(UInt32)
    /// True if the client requests response information in CONNACK.
    case requestResponseInformation(Bool)
    /// A text from which the client may build its response topics.
    case responseInformation(String)
    /// Another server to which the client may connect.
    case serverReference(String)
    /// The reason for a result, as a text for logs and users.
    case reasonString(String)
    /// The maximum number of unacknowledged QoS 1 and 2 messages that the sender of this packet accepts, at least 1.
    case receiveMaximum(UInt16)
    /// The highest topic alias that the sender of this packet accepts. 0 means no aliases.
    case topicAliasMaximum(UInt16)
    /// A number, at least 1, that replaces the topic name.
    case topicAlias(UInt16)
    /// The highest QoS that the server supports, if it is lower than 2.
    case maximumQoS(PacketQoS)
    /// True if the server supports retained messages.
    case retainAvailable(Bool)
    /// A name and a value that the application defines.
    case userProperty(name: String, value: String)
    /// The size in bytes of the largest packet that the sender of this packet accepts, at least 1.
    case maximumPacketSize(UInt32)
    /// True if the server supports wildcards in topic filters.
    case wildcardSubscriptionAvailable(Bool)
    /// True if the server supports subscription identifiers.
    case subscriptionIdentifiersAvailable(Bool)
    /// True if the server supports shared subscriptions.
    case sharedSubscriptionAvailable(Bool)

    /// The identifier of the property.
    public var id: PropertyID {
        switch self {
        case .payloadFormatIndicator: .payloadFormatIndicator
        case .messageExpiryInterval: .messageExpiryInterval
        case .contentType: .contentType
        case .responseTopic: .responseTopic
        case .correlationData: .correlationData
        case .subscriptionIdentifier: .subscriptionIdentifier
        case .sessionExpiryInterval: .sessionExpiryInterval
        case .assignedClientIdentifier: .assignedClientIdentifier
        case .serverKeepAlive: .serverKeepAlive
        case .authenticationMethod: .authenticationMethod
        case .authenticationData: .authenticationData
        case .requestProblemInformation: .requestProblemInformation
        case .willDelayInterval: .willDelayInterval
        case .requestResponseInformation: .requestResponseInformation
        case .responseInformation: .responseInformation
        case .serverReference: .serverReference
        case .reasonString: .reasonString
        case .receiveMaximum: .receiveMaximum
        case .topicAliasMaximum: .topicAliasMaximum
        case .topicAlias: .topicAlias
        case .maximumQoS: .maximumQoS
        case .retainAvailable: .retainAvailable
        case .userProperty: .userProperty
        case .maximumPacketSize: .maximumPacketSize
        case .wildcardSubscriptionAvailable: .wildcardSubscriptionAvailable
        case .subscriptionIdentifiersAvailable: .subscriptionIdentifiersAvailable
        case .sharedSubscriptionAvailable: .sharedSubscriptionAvailable
        }
    }
}

extension Property {
    /// The value of a property in its wire format. The encoder and the decoder share this type.
    enum Value {
        case number(UInt32)
        case text(String)
        case binary([UInt8])
        case textPair(String, String)
    }

    /// The value in its wire format.
    var value: Value {
        switch self {
        case .payloadFormatIndicator(let flag), .requestProblemInformation(let flag),
            .requestResponseInformation(let flag), .retainAvailable(let flag), .wildcardSubscriptionAvailable(let flag),
            .subscriptionIdentifiersAvailable(let flag), .sharedSubscriptionAvailable(let flag):
            .number(flag ? 1 : 0)
        case .maximumQoS(let qos): .number(UInt32(qos.rawValue))
        case .serverKeepAlive(let number), .receiveMaximum(let number), .topicAliasMaximum(let number),
            .topicAlias(let number):
            .number(UInt32(number))
        case .messageExpiryInterval(let number), .subscriptionIdentifier(let number),
            .sessionExpiryInterval(let number), .willDelayInterval(let number), .maximumPacketSize(let number):
            .number(number)
        case .contentType(let text), .responseTopic(let text), .assignedClientIdentifier(let text),
            .authenticationMethod(let text), .responseInformation(let text), .serverReference(let text),
            .reasonString(let text):
            .text(text)
        case .correlationData(let bytes): .binary(bytes)
        case .authenticationData(let secret): .binary(secret.bytes)
        case .userProperty(let name, let value): .textPair(name, value)
        }
    }

    /// Creates a property with a copy of the value that `view` refers to in `bytes`.
    init(_ view: PropertyView, in bytes: UnsafeRawBufferPointer) {
        let number = view.number
        let flag = number != 0
        let short = UInt16(truncatingIfNeeded: number)
        func text() -> String { String(copying: view.range, of: bytes) }
        switch view.id {
        case .payloadFormatIndicator: self = .payloadFormatIndicator(isText: flag)
        case .messageExpiryInterval: self = .messageExpiryInterval(number)
        case .contentType: self = .contentType(text())
        case .responseTopic: self = .responseTopic(text())
        case .correlationData: self = .correlationData(Array(copying: view.range, of: bytes))
        case .subscriptionIdentifier: self = .subscriptionIdentifier(number)
        case .sessionExpiryInterval: self = .sessionExpiryInterval(number)
        case .assignedClientIdentifier: self = .assignedClientIdentifier(text())
        case .serverKeepAlive: self = .serverKeepAlive(short)
        case .authenticationMethod: self = .authenticationMethod(text())
        case .authenticationData: self = .authenticationData(SecretBytes(Array(copying: view.range, of: bytes)))
        case .requestProblemInformation: self = .requestProblemInformation(flag)
        case .willDelayInterval: self = .willDelayInterval(number)
        case .requestResponseInformation: self = .requestResponseInformation(flag)
        case .responseInformation: self = .responseInformation(text())
        case .serverReference: self = .serverReference(text())
        case .reasonString: self = .reasonString(text())
        case .receiveMaximum: self = .receiveMaximum(short)
        case .topicAliasMaximum: self = .topicAliasMaximum(short)
        case .topicAlias: self = .topicAlias(short)
        case .maximumQoS: self = .maximumQoS(flag ? .atLeastOnce : .atMostOnce)
        case .retainAvailable: self = .retainAvailable(flag)
        case .userProperty:
            self = .userProperty(name: text(), value: String(copying: view.secondRange, of: bytes))
        case .maximumPacketSize: self = .maximumPacketSize(number)
        case .wildcardSubscriptionAvailable: self = .wildcardSubscriptionAvailable(flag)
        case .subscriptionIdentifiersAvailable: self = .subscriptionIdentifiersAvailable(flag)
        case .sharedSubscriptionAvailable: self = .sharedSubscriptionAvailable(flag)
        }
    }
}
