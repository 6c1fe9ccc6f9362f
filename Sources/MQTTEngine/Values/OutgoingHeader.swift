public import MQTTCodec

/// The values of an outgoing message, except its topic, properties and payload.
public struct OutgoingHeader: BitwiseCopyable, Hashable, Sendable {
    // The order of the fields makes the struct as small as possible, because tables contain thousands of headers.

    /// The token of the message. The engine reports the outcome with this token.
    public var token: Token
    /// The time when the message expires; `never` if it does not expire.
    @usableFromInline package var expiresAt: MonotonicInstant
    /// A second expiry time, in addition to ``expiry``. The second time applies only until the message is sent for the
    /// first time. This time is not sent to the server.
    package var firstSendEnd = MonotonicInstant.never
    /// The time when the caller accepted the message; `never` if the time is not known. The engine does not use this
    /// time.
    package var acceptedAt = MonotonicInstant.never
    /// The time when the caller last gave the message to the engine; `never` if the time is not known. The engine does
    /// not use this time.
    package var sentAt = MonotonicInstant.never
    /// The quality of service.
    public var qos: PacketQoS
    /// True if the server keeps the message for later subscribers.
    public var isRetained: Bool
    /// The time when the message expires; `nil` for never. In MQTT 5, PUBLISH contains the remaining seconds. A message
    /// that was not sent before this time is never sent. A message that was sent before may be sent again after this
    /// time. Its PUBLISH then contains the expiry 1 second.
    public var expiry: ClientEngine.Instant? {
        get { expiresAt == .never ? nil : expiresAt.instant }
        set { expiresAt = newValue.map(MonotonicInstant.init) ?? .never }
    }
    /// True if the message is sent again when its connection ends before the acknowledgement. If false, the message
    /// then fails.
    public var isRetried: Bool

    /// Makes a header. By default, the message is sent again if needed, is not retained, and does not expire.
    public init(
        qos: PacketQoS, isRetained: Bool = false, expiry: ClientEngine.Instant? = nil, isRetried: Bool = true,
        token: Token
    ) {
        self.qos = qos
        self.isRetained = isRetained
        expiresAt = expiry.map(MonotonicInstant.init) ?? .never
        self.isRetried = isRetried
        self.token = token
    }

    /// Makes a header from an expiry of the engine's own time type. This is faster than the public initializer, because
    /// no clock value is converted. `never` means that the message does not expire.
    @inlinable
    package init(_ qos: PacketQoS, isRetained: Bool, isRetried: Bool, expiry: MonotonicInstant, token: Token) {
        self.qos = qos
        self.isRetained = isRetained
        expiresAt = expiry
        self.isRetried = isRetried
        self.token = token
    }
}

extension OutgoingMessage {
    /// The values of the message, except its topic, properties and payload.
    public var header: OutgoingHeader {
        OutgoingHeader(qos: qos, isRetained: isRetained, expiry: expiry, isRetried: isRetried, token: token)
    }
}
