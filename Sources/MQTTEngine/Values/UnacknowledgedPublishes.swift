/// The PUBLISH packets of one connection that the server has not answered by PUBACK or PUBREC.
public struct UnacknowledgedPublishes: Hashable, Sendable {
    /// The number of PUBLISH packets that the server has not answered.
    public var count: Int
    /// The token of the message, if exactly one packet waits for an answer.
    ///
    /// `nil` if several PUBLISH packets wait, or if a PUBREL, SUBSCRIBE or UNSUBSCRIBE waits for its answer as well.
    public var only: Token?
    /// The time when the last unanswered PUBLISH was written. If the caller paused reading and resumed it after that,
    /// the value is the time when reading resumed.
    public var lastSentAt: ClientEngine.Instant?
    /// The time when the last QoS 0 message was written. A server does not acknowledge QoS 0 messages.
    public var lastQoS0SentAt: ClientEngine.Instant?

    /// Makes a value, by default without packets.
    public init(
        count: Int = 0, only: Token? = nil, lastSentAt: ClientEngine.Instant? = nil,
        lastQoS0SentAt: ClientEngine.Instant? = nil
    ) {
        self.count = count
        self.only = only
        self.lastSentAt = lastSentAt
        self.lastQoS0SentAt = lastQoS0SentAt
    }
}
