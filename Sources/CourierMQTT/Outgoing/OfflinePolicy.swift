/// The limits for waiting messages, and the rule for a new message when a limit is reached.
///
/// The limits apply to all waiting messages together. A message may wait for a connection, for acknowledgements of
/// earlier messages, for a stalled socket, or for the message store. A stored message counts, too, until it is sent. In
/// addition, the store has its own limits. Messages in flight do not count. Messages that an earlier process stored
/// count, but are never dropped.
public struct OfflinePolicy: Hashable, Sendable {
    /// The rule for a new message when the queue is at a limit.
    public enum Overflow: Hashable, Sendable {
        /// An `await publish` or `await enqueue` waits for room. If there is no room within `timeout`, the call fails
        /// with `queueFull`. Calls that do not wait fail with `queueFull` at once. Waiting calls continue in the order
        /// of the calls. While the client is connected, they continue when half of both limits is free.
        case suspend(timeout: Duration)
        /// The oldest waiting messages fail with `queueFull`, one by one, until the new message fits. Messages that
        /// were already sent once and messages of an earlier process are never dropped. If these drops cannot make
        /// enough room, only the new message is dropped, as with ``dropNewest``. A dropped QoS 0 message is not
        /// reported, because it already counted as sent when the queue accepted it.
        case dropOldest
        /// The new message is dropped. A waiting caller or a completion receives `queueFull`, and an event reports the
        /// drop. Calls that do not wait return as if the message had been accepted.
        case dropNewest
        /// The publishing call fails with `queueFull` at once.
        case fail
    }

    /// The maximum number of waiting messages; 10,000 by default, at least 1.
    public var maximumCount: Int
    /// The maximum number of bytes in the topics, properties and payloads of all waiting messages; 64 MiB by default,
    /// at least 1. A single message with more bytes is refused at once.
    public var maximumBytes: Int
    /// The maximum time that a message may wait in the client's queue or in the message store. After this time, the
    /// message fails with `messageExpired`. `nil`, the default, means no limit. If the message has a shorter
    /// `messageExpiry`, the message fails after that shorter time. Only `messageExpiry` is sent to the broker. The
    /// expiry of a QoS 0 message is not reported, because the message counts as sent when the queue accepts it.
    public var maximumAge: Duration?
    /// The rule for a new message at a limit; ``Overflow/suspend(timeout:)`` with 30 s by default.
    public var overflow: Overflow
    /// Whether QoS 0 messages also wait for a connection; `false` by default. If `false`, a QoS 0 message without a
    /// connection fails with `connectionLost`. If `true`, a QoS 0 message counts as sent when the queue accepts it.
    public var queuesQoS0: Bool
    /// The maximum number of waiting messages that are sent in one batch on a new connection; 1,000 by default.
    public var drainCount: Int
    /// The pause between two batches of waiting messages; 10 ms by default. With the pauses, a long queue does not
    /// reach the broker all at once. Before DISCONNECT, the client sends the waiting messages without these pauses.
    public var drainInterval: Duration

    /// Creates a policy. The defaults are described at the properties.
    public init(
        maximumCount: Int = 10_000,
        maximumBytes: Int = 64 << 20,
        maximumAge: Duration? = nil,
        overflow: Overflow = .suspend(timeout: .seconds(30)),
        queuesQoS0: Bool = false,
        drainCount: Int = 1_000,
        drainInterval: Duration = .milliseconds(10)
    ) {
        self.maximumCount = maximumCount
        self.maximumBytes = maximumBytes
        self.maximumAge = maximumAge
        self.overflow = overflow
        self.queuesQoS0 = queuesQoS0
        self.drainCount = drainCount
        self.drainInterval = drainInterval
    }
}
