/// The PUBLISH packets of one connection that the server has not answered by PUBACK or PUBREC.
public struct UnacknowledgedPublishes: Hashable, Sendable {
    /// How many there are.
    public var count: Int
    /// The message of the only packet that waits for an answer.
    ///
    /// `nil` if several PUBLISH packets wait, or if a PUBREL, SUBSCRIBE or UNSUBSCRIBE waits for its answer as well.
    public var only: Token?
    /// When the last of them was written. If reading was paused since, the time when reading resumed.
    public var lastSentAt: ContinuousClock.Instant?
    /// When the last QoS 0 message was written, which no server acknowledges.
    public var lastQoS0SentAt: ContinuousClock.Instant?

    /// Makes a value; of no packets unless said otherwise.
    public init(
        count: Int = 0, only: Token? = nil, lastSentAt: ContinuousClock.Instant? = nil,
        lastQoS0SentAt: ContinuousClock.Instant? = nil
    ) {
        self.count = count
        self.only = only
        self.lastSentAt = lastSentAt
        self.lastQoS0SentAt = lastQoS0SentAt
    }
}
