/// Limits of waiting messages, and the rule for a message without room.
///
/// The limits hold wherever a message waits: without a connection, behind messages that the broker has not acknowledged,
/// behind a stalled socket, on the way to the message store and in it. The store's own limits hold as well. Messages in
/// flight do not count. Messages that an earlier process stored count, and are never dropped.
public struct OfflinePolicy: Hashable, Sendable {
    /// The rule for a new message when the queue is at a limit.
    public enum Overflow: Hashable, Sendable {
        /// An `await publish` or `await enqueue` waits for room, at most this long, and then fails with `queueFull`; the
        /// forms that do not wait fail at once.
        case suspend(timeout: Duration)
        /// The message that has waited longest fails with `queueFull`, and so on until the new message fits. Messages that
        /// were sent once and messages of an earlier process are never dropped. If dropping all others would not make enough
        /// room, the new message is dropped, as with ``dropNewest``. A dropped message of QoS 0 is not reported, because it
        /// counted as sent when the queue accepted it.
        case dropOldest
        /// The new message is dropped: a waiting caller gets `queueFull`, an event says so, and the forms that do not wait return
        /// as if it had been taken.
        case dropNewest
        /// The call fails with `queueFull`.
        case fail

        /// Whether the new message is refused, and no waiting message is dropped.
        var refusesNewest: Bool {
            switch self {
            case .suspend, .fail: true
            case .dropOldest, .dropNewest: false
            }
        }
    }

    /// How many messages may wait, 10,000 by default and at least 1.
    public var maximumCount: Int
    /// How many bytes of topics, properties and payloads may wait, 64 MiB by default and at least 1. A larger message is
    /// refused at once.
    public var maximumBytes: Int
    /// How long a message may wait in the client's queue, or in the message store, until it fails with `messageExpired`; `nil`,
    /// the default, means no limit. A shorter `messageExpiry` of the message counts, too, and only it is sent to the broker. The
    /// end of a message of QoS 0 is not reported, because it counts as sent when the queue accepts it.
    public var maximumAge: Duration?
    /// The rule at a limit; ``Overflow/suspend(timeout:)`` with 30 s by default.
    public var overflow: Overflow
    /// Whether messages of QoS 0 wait, too; `false` by default: without a connection they fail with `connectionLost`. A waiting
    /// message of QoS 0 counts as sent.
    public var queuesQoS0: Bool
    /// How many messages are handed to a fresh connection at once, 1,000 by default.
    public var drainCount: Int
    /// How long the next ones wait then, 10 ms by default, so that a long queue does not fall on the broker at once.
    public var drainInterval: Duration

    /// Names the limits; every one has the default that its property names.
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
