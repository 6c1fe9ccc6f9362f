import MQTTCodec

/// One property of an MQTT 5 packet as text.
public struct MQTTChuckProperty: Hashable, Sendable {
    /// The name of the property, such as `content type`. A user property has the name that its sender chose.
    public let name: String

    /// The value as text. Binary data is shown in hex. For a secret value, only its number of bytes is shown.
    public let value: String

    /// True if this is a user property.
    public let isUserProperty: Bool

    init(name: String, value: String, isUserProperty: Bool = false) {
        self.name = name
        self.value = value
        self.isUserProperty = isUserProperty
    }

    init(_ property: Property) {
        let name = Self.name(of: property.id)
        switch property {
        case .userProperty(let name, let value): self.init(name: name, value: value, isUserProperty: true)
        case .payloadFormatIndicator(let flag): self.init(name: name, value: flag ? "UTF-8 text" : "bytes")
        case .requestProblemInformation(let flag), .requestResponseInformation(let flag), .retainAvailable(let flag),
            .wildcardSubscriptionAvailable(let flag), .subscriptionIdentifiersAvailable(let flag),
            .sharedSubscriptionAvailable(let flag):
            self.init(name: name, value: flag ? "yes" : "no")
        case .maximumQoS(let qos): self.init(name: name, value: "\(qos.rawValue)")
        case .serverKeepAlive(let number), .receiveMaximum(let number), .topicAliasMaximum(let number),
            .topicAlias(let number):
            self.init(name: name, value: "\(number)")
        case .messageExpiryInterval(let number), .subscriptionIdentifier(let number),
            .sessionExpiryInterval(let number), .willDelayInterval(let number), .maximumPacketSize(let number):
            self.init(name: name, value: "\(number)")
        case .contentType(let text), .responseTopic(let text), .assignedClientIdentifier(let text),
            .authenticationMethod(let text), .responseInformation(let text), .serverReference(let text),
            .reasonString(let text):
            self.init(name: name, value: text)
        case .correlationData(let bytes): self.init(name: name, value: Hex.text(bytes.prefix(256)))
        case .authenticationData(let secret): self.init(name: name, value: "<\(secret.bytes.count) secret bytes>")
        }
    }

    /// The name of a property in the MQTT 5 specification (Table 2-4), in lower case.
    private static func name(of id: PropertyID) -> String {
        switch id {
        case .payloadFormatIndicator: "payload format"
        case .messageExpiryInterval: "message expiry interval"
        case .contentType: "content type"
        case .responseTopic: "response topic"
        case .correlationData: "correlation data"
        case .subscriptionIdentifier: "subscription identifier"
        case .sessionExpiryInterval: "session expiry interval"
        case .assignedClientIdentifier: "assigned client identifier"
        case .serverKeepAlive: "server keep alive"
        case .authenticationMethod: "authentication method"
        case .authenticationData: "authentication data"
        case .requestProblemInformation: "request problem information"
        case .willDelayInterval: "will delay interval"
        case .requestResponseInformation: "request response information"
        case .responseInformation: "response information"
        case .serverReference: "server reference"
        case .reasonString: "reason string"
        case .receiveMaximum: "receive maximum"
        case .topicAliasMaximum: "topic alias maximum"
        case .topicAlias: "topic alias"
        case .maximumQoS: "maximum QoS"
        case .retainAvailable: "retain available"
        case .userProperty: "user property"
        case .maximumPacketSize: "maximum packet size"
        case .wildcardSubscriptionAvailable: "wildcard subscription available"
        case .subscriptionIdentifiersAvailable: "subscription identifiers available"
        case .sharedSubscriptionAvailable: "shared subscription available"
        }
    }
}
