public import MQTTCodec

/// A message to publish.
public struct OutgoingMessage: Hashable, Sendable {
    /// The topic name, without wildcards.
    public var topic: String
    /// The content of the message.
    public var payload: [UInt8]
    /// The quality of service.
    public var qos: PacketQoS
    /// True if the server keeps the message for later subscribers.
    public var isRetained: Bool
    /// The properties, without topic alias and message expiry, which the engine adds. Properties are not sent before
    /// MQTT 5.
    public var properties: PacketProperties
    /// The time when the message expires; `nil` for never. In MQTT 5, PUBLISH contains the remaining seconds. A message
    /// that was not sent before this time is never sent. A message that was sent before may be sent again after this
    /// time. Its PUBLISH then contains the expiry 1 second.
    public var expiry: ClientEngine.Instant?
    /// True if the message is sent again when its connection ends before the acknowledgement. If false, the message
    /// then fails.
    public var isRetried: Bool
    /// The token of the message. The engine reports the outcome with this token.
    public var token: Token

    /// Makes a message. By default, the message is sent again if needed, is not retained, has no properties, and does
    /// not expire.
    public init(
        topic: String, payload: [UInt8], qos: PacketQoS, isRetained: Bool = false, properties: PacketProperties = [],
        expiry: ClientEngine.Instant? = nil, isRetried: Bool = true, token: Token
    ) {
        self.topic = topic
        self.payload = payload
        self.qos = qos
        self.isRetained = isRetained
        self.properties = properties
        self.expiry = expiry
        self.isRetried = isRetried
        self.token = token
    }
}
