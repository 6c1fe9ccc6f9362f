public import MQTTCodec

/// A message to publish.
public struct OutgoingMessage: Hashable, Sendable {
    /// Where it is published; a topic name without wildcards.
    public var topic: String
    /// The message itself.
    public var payload: [UInt8]
    /// The quality of service.
    public var qos: PacketQoS
    /// Whether the server keeps it for later subscribers.
    public var isRetained: Bool
    /// Its properties, without topic alias and message expiry, which are the engine's; left out before MQTT 5.
    public var properties: PacketProperties
    /// When it is worth nothing any more: it is not sent after that, and carries the seconds that remain; `nil` is never.
    /// Once it was sent it is sent again after that too, with 1 second.
    public var expiry: ContinuousClock.Instant?
    /// Whether it is sent again when its connection ends before the acknowledgement; otherwise it fails then.
    public var isRetried: Bool
    /// The name under which its outcome is reported.
    public var token: Token

    /// Makes a message; retried, not retained, without properties and without an end unless said otherwise.
    public init(
        topic: String, payload: [UInt8], qos: PacketQoS, isRetained: Bool = false, properties: PacketProperties = [],
        expiry: ContinuousClock.Instant? = nil, isRetried: Bool = true, token: Token
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
