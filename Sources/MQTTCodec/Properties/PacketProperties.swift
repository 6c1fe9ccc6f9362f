/// The properties of one MQTT 5 packet, in their order on the wire.
///
/// Which of them a packet may have, and how often, is checked when it is encoded or decoded. An empty list costs no memory,
/// and is the only one that a packet before MQTT 5 may have.
///
/// ```swift
/// let properties: PacketProperties = [.contentType("text/plain"), .userProperty(name: "trace", value: "7f3a")]
/// properties.contentType  // "text/plain"
/// ```
public struct PacketProperties: Hashable, Sendable {
    /// The properties in their order on the wire.
    public var list: [Property]

    /// Makes a list of `list`, none by default.
    public init(_ list: [Property] = []) { self.list = list }

    /// Whether there are none.
    public var isEmpty: Bool { list.isEmpty }

    /// Adds `property` at the end.
    public mutating func append(_ property: Property) { list.append(property) }

    /// The first property of this kind, or `nil` where there is none.
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
    /// Makes a list of the given properties.
    public init(arrayLiteral elements: Property...) { self.init(elements) }
}

extension PacketProperties {
    /// Whether the payload is UTF-8 text; `nil` where it is not said, which means bytes.
    public var payloadIsText: Bool? { flag(.payloadFormatIndicator) }
    /// The seconds after which the message is worth nothing any more; `nil` means never.
    public var messageExpiryInterval: UInt32? { number(.messageExpiryInterval) }
    /// The MIME type of the payload, or another description of it.
    public var contentType: String? { text(.contentType) }
    /// The topic name on which the answer is expected.
    public var responseTopic: String? { text(.responseTopic) }
    /// Bytes that tie an answer to its question.
    public var correlationData: [UInt8]? {
        if case .correlationData(let bytes) = self[.correlationData] { bytes } else { nil }
    }
    /// The numbers of all subscriptions that a message matched.
    public var subscriptionIdentifiers: [UInt32] {
        list.compactMap { if case .subscriptionIdentifier(let number) = $0 { number } else { nil } }
    }
    /// The seconds for which the session outlives the connection; `nil` means not at all.
    public var sessionExpiryInterval: UInt32? { number(.sessionExpiryInterval) }
    /// The client identifier that the server chose.
    public var assignedClientIdentifier: String? { text(.assignedClientIdentifier) }
    /// The keep-alive that the server chose, in seconds.
    public var serverKeepAlive: UInt16? { short(.serverKeepAlive) }
    /// The name of the method of an extended authentication.
    public var authenticationMethod: String? { text(.authenticationMethod) }
    /// The data of a step of an extended authentication.
    public var authenticationData: SecretBytes? {
        if case .authenticationData(let secret) = self[.authenticationData] { secret } else { nil }
    }
    /// Whether the client wants reason strings and user properties on failures; `nil` means yes.
    public var requestProblemInformation: Bool? { flag(.requestProblemInformation) }
    /// The seconds between the loss of a connection and its will message; `nil` means none.
    public var willDelayInterval: UInt32? { number(.willDelayInterval) }
    /// Whether the client wants response information; `nil` means no.
    public var requestResponseInformation: Bool? { flag(.requestResponseInformation) }
    /// What the client may build its response topics on.
    public var responseInformation: String? { text(.responseInformation) }
    /// Another server to go to.
    public var serverReference: String? { text(.serverReference) }
    /// A sentence for a person.
    public var reasonString: String? { text(.reasonString) }
    /// How many QoS 1 and 2 messages may be unacknowledged; `nil` means 65,535.
    public var receiveMaximum: UInt16? { short(.receiveMaximum) }
    /// The highest topic alias; `nil` means 0, none.
    public var topicAliasMaximum: UInt16? { short(.topicAliasMaximum) }
    /// A number in place of the topic name.
    public var topicAlias: UInt16? { short(.topicAlias) }
    /// The highest QoS that the server supports; `nil` means 2.
    public var maximumQoS: PacketQoS? { if case .maximumQoS(let qos) = self[.maximumQoS] { qos } else { nil } }
    /// Whether the server keeps retained messages; `nil` means yes.
    public var retainAvailable: Bool? { flag(.retainAvailable) }
    /// The names and values of the application, in order.
    public var userProperties: [(name: String, value: String)] {
        list.compactMap { if case .userProperty(let name, let value) = $0 { (name, value) } else { nil } }
    }
    /// The size in bytes of the largest packet that is accepted; `nil` means no limit.
    public var maximumPacketSize: UInt32? { number(.maximumPacketSize) }
    /// Whether the server supports wildcards in filters; `nil` means yes.
    public var wildcardSubscriptionAvailable: Bool? { flag(.wildcardSubscriptionAvailable) }
    /// Whether the server supports subscription identifiers; `nil` means yes.
    public var subscriptionIdentifiersAvailable: Bool? { flag(.subscriptionIdentifiersAvailable) }
    /// Whether the server supports shared subscriptions; `nil` means yes.
    public var sharedSubscriptionAvailable: Bool? { flag(.sharedSubscriptionAvailable) }
}
