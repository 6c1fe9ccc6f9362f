/// The property list of one MQTT 5 packet, in the order in which the properties are sent.
///
/// The encoder and the decoder check which properties a packet may have, and how often. An empty list allocates no
/// memory. A packet before MQTT 5 must have an empty list.
///
/// ```swift
/// let properties: PacketProperties = [.contentType("text/plain"), .userProperty(name: "trace", value: "7f3a")]
/// properties.contentType  // "text/plain"
/// ```
public struct PacketProperties: Hashable, Sendable {
    /// The properties, in the order in which they are sent.
    public var list: [Property]

    /// Creates a property list, by default an empty one.
    public init(_ list: [Property] = []) { self.list = list }

    /// True if the list is empty.
    public var isEmpty: Bool { list.isEmpty }

    /// Adds `property` at the end.
    public mutating func append(_ property: Property) { list.append(property) }

    /// The first property with this identifier, or `nil` if the list has none.
    public subscript(id: PropertyID) -> Property? { list.first { $0.id == id } }

    private func number(_ id: PropertyID) -> UInt32? {
        if case .number(let number) = self[id]?.value { number } else { nil }
    }
    private func short(_ id: PropertyID) -> UInt16? { number(id).map { UInt16(truncatingIfNeeded: $0) } }
    private func flag(_ id: PropertyID) -> Bool? { number(id).map { $0 != 0 } }
    private func text(_ id: PropertyID) -> String? {
        if case .text(let text) = self[id]?.value { text } else { nil }
    }
}

extension PacketProperties: ExpressibleByArrayLiteral {
    /// Creates a property list from an array literal.
    public init(arrayLiteral elements: Property...) { self.init(elements) }
}

extension PacketProperties {
    /// True if the payload is UTF-8 text. `nil` means unspecified bytes.
    public var payloadIsText: Bool? { flag(.payloadFormatIndicator) }
    /// The lifetime of the message in seconds. After this time, the message is not delivered any more. `nil` means that
    /// the message never expires.
    public var messageExpiryInterval: UInt32? { number(.messageExpiryInterval) }
    /// The MIME type of the payload, or another description of it.
    public var contentType: String? { text(.contentType) }
    /// The topic name for the response to this message.
    public var responseTopic: String? { text(.responseTopic) }
    /// The bytes that match a response to its request.
    public var correlationData: [UInt8]? {
        if case .correlationData(let bytes) = self[.correlationData] { bytes } else { nil }
    }
    /// The subscription identifiers of all subscriptions that the message matched.
    public var subscriptionIdentifiers: [UInt32] {
        list.compactMap { if case .subscriptionIdentifier(let number) = $0 { number } else { nil } }
    }
    /// The seconds that the session remains after the connection ends. `nil` means that the session ends with the
    /// connection.
    public var sessionExpiryInterval: UInt32? { number(.sessionExpiryInterval) }
    /// The client identifier that the server chose.
    public var assignedClientIdentifier: String? { text(.assignedClientIdentifier) }
    /// The keep-alive that the server chose, in seconds.
    public var serverKeepAlive: UInt16? { short(.serverKeepAlive) }
    /// The name of the authentication method of an extended authentication.
    public var authenticationMethod: String? { text(.authenticationMethod) }
    /// The data of one step of an extended authentication.
    public var authenticationData: SecretBytes? {
        if case .authenticationData(let secret) = self[.authenticationData] { secret } else { nil }
    }
    /// True if the server may add reason strings and user properties to packets that report a failure. `nil` means
    /// true.
    public var requestProblemInformation: Bool? { flag(.requestProblemInformation) }
    /// The seconds that the server waits after the connection is lost, before it publishes the will. `nil` means 0.
    public var willDelayInterval: UInt32? { number(.willDelayInterval) }
    /// True if the client requests response information in CONNACK. `nil` means false.
    public var requestResponseInformation: Bool? { flag(.requestResponseInformation) }
    /// The response information: a text from which the client may build its response topics.
    public var responseInformation: String? { text(.responseInformation) }
    /// Another server to which the client may connect.
    public var serverReference: String? { text(.serverReference) }
    /// The reason for a result, as a text for logs and users.
    public var reasonString: String? { text(.reasonString) }
    /// The maximum number of unacknowledged QoS 1 and 2 messages that the sender of this packet accepts. `nil` means
    /// 65,535.
    public var receiveMaximum: UInt16? { short(.receiveMaximum) }
    /// The highest topic alias that the sender of this packet accepts. `nil` means 0: no aliases.
    public var topicAliasMaximum: UInt16? { short(.topicAliasMaximum) }
    /// The topic alias: a number that replaces the topic name.
    public var topicAlias: UInt16? { short(.topicAlias) }
    /// The highest QoS that the server supports. `nil` means QoS 2.
    public var maximumQoS: PacketQoS? { if case .maximumQoS(let qos) = self[.maximumQoS] { qos } else { nil } }
    /// True if the server supports retained messages. `nil` means true.
    public var retainAvailable: Bool? { flag(.retainAvailable) }
    /// The user properties: names and values that the application defines, in order.
    public var userProperties: [(name: String, value: String)] {
        list.compactMap { if case .userProperty(let name, let value) = $0 { (name, value) } else { nil } }
    }
    /// The size in bytes of the largest packet that the sender of this packet accepts. `nil` means no limit.
    public var maximumPacketSize: UInt32? { number(.maximumPacketSize) }
    /// True if the server supports wildcards in topic filters. `nil` means true.
    public var wildcardSubscriptionAvailable: Bool? { flag(.wildcardSubscriptionAvailable) }
    /// True if the server supports subscription identifiers. `nil` means true.
    public var subscriptionIdentifiersAvailable: Bool? { flag(.subscriptionIdentifiersAvailable) }
    /// True if the server supports shared subscriptions. `nil` means true.
    public var sharedSubscriptionAvailable: Bool? { flag(.sharedSubscriptionAvailable) }
}
