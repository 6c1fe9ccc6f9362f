/// How many messages may wait for one reader, and what happens to the next one.
///
/// Messages of QoS 1 and 2 are never dropped: at the limit the client stops reading from the broker until half of the
/// buffer is free, whatever the policy says. The policy is for QoS 0. While the broker's answer to a publish, a
/// subscription or a question is awaited, perhaps by the loop that is behind, the client reads on, slowly; what then comes
/// beyond twice the limit is not acknowledged until there is room, and dropped at QoS 0.
public struct ReadBuffer: Hashable, Sendable {
    /// What happens to a message of QoS 0 when there is no room.
    public enum Overflow: Hashable, Sendable {
        /// The oldest one of QoS 0 that waits is given up, so that the newest always arrives.
        case dropOldest

        /// The new message is dropped.
        case dropNewest

        /// Nothing is given up up to twice the limit: the client stops reading from the broker, for all of its readers.
        case pause
    }

    /// The number of messages that may wait, at least 1.
    public let limit: Int

    /// From how many bytes of memory on there is no room either, at least 1: topics, properties, payloads and what is known
    /// of each message.
    public let byteLimit: Int

    /// What happens to a message of QoS 0 when there is no room; ``Overflow/dropOldest`` by default.
    public let overflow: Overflow

    /// Names a limit and what happens at it.
    ///
    /// - Parameters:
    ///   - limit: The number of messages that may wait, 16,384 by default; less than 1 counts as 1.
    ///   - byteLimit: From how many bytes of memory on there is no room, 16 MiB by default, so that large messages do not
    ///     fill it; less than 1 counts as 1.
    ///   - overflow: What happens to a message of QoS 0 at the limit; the oldest is dropped by default.
    public init(limit: Int = 16_384, byteLimit: Int = 16 << 20, overflow: Overflow = .dropOldest) {
        self.limit = max(1, limit)
        self.byteLimit = max(1, byteLimit)
        self.overflow = overflow
    }
}
