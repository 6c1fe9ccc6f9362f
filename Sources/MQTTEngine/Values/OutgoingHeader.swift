public import MQTTCodec

/// What belongs to an outgoing message beside its topic, its properties and the message itself.
public struct OutgoingHeader: BitwiseCopyable, Hashable, Sendable {
    // In the order in which they take the least room: thousands of headers wait in tables.

    /// The name under which its outcome is reported.
    public var token: Token
    @usableFromInline package var expiresAt: MonotonicInstant?
    /// The message expires if it was not sent by then, in addition to ``expiry``. The server does not learn of it.
    package var firstSendEnd = MonotonicInstant.never
    /// The quality of service.
    public var qos: PacketQoS
    /// Whether the server keeps it for later subscribers.
    public var isRetained: Bool
    /// When it is worth nothing any more: it is not sent after that, and carries the seconds that remain; `nil` is never.
    /// Once it was sent it is sent again after that too, with 1 second.
    public var expiry: ContinuousClock.Instant? {
        get { expiresAt?.instant }
        set { expiresAt = newValue.map(MonotonicInstant.init) }
    }
    /// Whether it is sent again when its connection ends before the acknowledgement; otherwise it fails then.
    public var isRetried: Bool

    /// Makes a header; retried, not retained and without an end unless said otherwise.
    public init(
        qos: PacketQoS, isRetained: Bool = false, expiry: ContinuousClock.Instant? = nil, isRetried: Bool = true,
        token: Token
    ) {
        self.qos = qos
        self.isRetained = isRetained
        expiresAt = expiry.map(MonotonicInstant.init)
        self.isRetried = isRetried
        self.token = token
    }

    /// Makes a header without a look at the clock's type, for the many messages without an end.
    @inlinable
    package init(_ qos: PacketQoS, isRetained: Bool, isRetried: Bool, expiry: MonotonicInstant, token: Token) {
        self.qos = qos
        self.isRetained = isRetained
        expiresAt = expiry == .never ? nil : expiry
        self.isRetried = isRetried
        self.token = token
    }
}

extension OutgoingMessage {
    /// What belongs to the message beside its topic, its properties and its payload.
    public var header: OutgoingHeader {
        OutgoingHeader(qos: qos, isRetained: isRetained, expiry: expiry, isRetried: isRetried, token: token)
    }
}
