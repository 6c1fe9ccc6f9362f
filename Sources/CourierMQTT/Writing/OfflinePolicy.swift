/// What may wait for a connection, and what happens to a message for which there is no room.
///
/// With a message store, what waits at QoS 1 and 2 is bounded by the limits of the store. Those here are for what
/// memory holds of it, and for what is on its way into the store, as while the disk is slow or the client does not know yet
/// whose messages it stores.
public struct OfflinePolicy: Hashable, Sendable {
    /// What happens to a message when the queue is at a limit.
    public enum Overflow: Hashable, Sendable {
        /// An `await publish` or `await enqueue` waits for room, at most this long, and then fails with `queueFull`; the
        /// forms that do not wait fail at once.
        case suspend(timeout: Duration)
        /// The message that has waited longest fails with `queueFull`, and so on until the new one fits. What a message
        /// store has is not given up. Where giving up all the others would not make enough room, none of them is: the new
        /// message is, as with ``dropNewest``. A message of QoS 0 counted as sent when the queue took it, and nobody is told
        /// when it is given up.
        case dropOldest
        /// The new message is given up: who waits for it, or for the client to take it, gets `queueFull`, an event says
        /// so, and the forms that do not wait return as if it had been taken.
        case dropNewest
        /// The call fails with `queueFull`.
        case fail

        /// Whether it is the caller that is told, and nothing that waits is given up.
        var refusesNewest: Bool {
            switch self {
            case .suspend, .fail: true
            case .dropOldest, .dropNewest: false
            }
        }
    }

    /// How many messages may wait, 10,000 by default and at least 1.
    public var maximumCount: Int
    /// How many bytes of topics and payloads may wait, 64 MiB by default and at least 1. On the way into a message store
    /// a message of any size has room while less than that waits.
    public var maximumBytes: Int
    /// How long a message may wait in the client's queue, or in the message store, until it fails with `messageExpired`;
    /// `nil`, the default, is for ever. A shorter `messageExpiry` of the message itself counts too, and it alone is what
    /// the broker is told. The end of a message of QoS 0 is not told: it counted as sent when the queue took it.
    public var maximumAge: Duration?
    /// What happens at a limit; ``Overflow/suspend(timeout:)`` with 30 s by default.
    public var overflow: Overflow
    /// Whether messages of QoS 0 wait as well; `false` by default: without a connection they fail with
    /// `connectionLost`. One that waits counts as sent.
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
