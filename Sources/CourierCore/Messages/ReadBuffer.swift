/// Limits the messages that wait for one reader, and selects what happens at the limit.
///
/// Messages of QoS 1 and 2 are never dropped, whatever the policy is. If a full buffer contains such a message, the
/// client stops reading from the broker until half of the buffer is free. The policy applies only to messages of QoS 0.
///
/// Even if the buffer is full, the client reads slowly while a publish, a subscription or a request waits for the
/// broker's response. Otherwise, an app that awaits this response before it reads more messages would wait forever. If
/// the buffer then grows to more than twice its limit, the client drops further messages of QoS 0. It acknowledges
/// further messages of QoS 1 and 2 only when the buffer has room. If the network accepts outgoing bytes slowly, the
/// client still receives messages and acknowledges them.
public struct ReadBuffer: Hashable, Sendable {
    /// The policy for a message of QoS 0 when the buffer is full.
    public enum Overflow: Hashable, Sendable {
        /// The oldest waiting message of QoS 0 is dropped, so that the newest message always arrives.
        case dropOldest

        /// The new message is dropped.
        case dropNewest

        /// The client stops reading from the broker, which affects all of its readers. Messages are dropped only if the
        /// buffer exceeds twice its limit.
        case pause
    }

    /// The number of messages that may wait, at least 1.
    public let limit: Int

    /// The number of bytes of memory at which the buffer is full, at least 1. The number includes the topics,
    /// properties, payloads and header fields of the messages.
    public let byteLimit: Int

    /// The policy for a message of QoS 0 when the buffer is full; ``Overflow/dropOldest`` by default.
    public let overflow: Overflow

    /// Creates a buffer with limits and a policy.
    ///
    /// - Parameters:
    ///   - limit: The number of messages that may wait, 16,384 by default; less than 1 counts as 1.
    ///   - byteLimit: The number of bytes of memory at which the buffer is full, 16 MiB by default. This limit matters
    ///     for large messages. Less than 1 counts as 1.
    ///   - overflow: The policy for a message of QoS 0 at the limit; by default, the oldest message of QoS 0 is
    ///     dropped.
    public init(limit: Int = 16_384, byteLimit: Int = 16 << 20, overflow: Overflow = .dropOldest) {
        self.limit = max(1, limit)
        self.byteLimit = max(1, byteLimit)
        self.overflow = overflow
    }
}
