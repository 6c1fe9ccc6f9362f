/// The rules by which a ``MessageProcessor`` handles its messages: the number of handlers at once, the order, the
/// retries, and the limits.
///
/// ```swift
/// ProcessingPolicy<Order>(concurrency: 8, order: .by(\.customer), deduplicate: .by(\.id, for: .seconds(86_400)))
/// ```
public struct ProcessingPolicy<Value: Sendable>: Sendable {
    /// The largest number of handlers that run at the same time, 4 by default. Less than 1 counts as 1.
    public var concurrency: Int

    /// Selects which messages are handled one after the other; by default, the messages of one topic.
    public var order: ProcessingOrder<Value>

    /// Selects which messages count as copies of a message that was handled before. `nil`, the default, means that no
    /// message counts as a copy.
    public var deduplicate: Deduplication<Value>?

    /// The pauses between attempts, and the largest number of attempts.
    public var retries: RetrySchedule

    /// The time after which a handler is cancelled, 5 minutes by default. The next attempt begins after the cancelled
    /// handler has returned.
    public var handlerTimeout: Duration

    /// The limits of the messages that wait for a handler or for the next attempt. At a limit, the processor takes no
    /// more messages from the client, so the client stops acknowledging messages or stops reading.
    public var waiting: ProcessingLimits

    /// The limits of parked messages. At a limit, the processor starts no more handlers until a parked message is
    /// retried or removed.
    public var parked: ParkingLimits

    /// Creates a policy.
    ///
    /// - Parameters:
    ///   - concurrency: The largest number of handlers that run at the same time; 4 by default.
    ///   - order: Selects which messages are handled one after the other; `.byTopic` by default.
    ///   - deduplicate: Selects which messages count as copies; `nil` by default.
    ///   - retries: The pauses between attempts; five attempts by default.
    ///   - handlerTimeout: The time after which a handler is cancelled; 5 minutes by default.
    ///   - waiting: The limits of waiting messages; 10,000 messages and 64 MiB by default.
    ///   - parked: The limits of parked messages; 1,000 messages and 16 MiB by default.
    public init(
        concurrency: Int = 4,
        order: ProcessingOrder<Value> = .byTopic,
        deduplicate: Deduplication<Value>? = nil,
        retries: RetrySchedule = RetrySchedule(),
        handlerTimeout: Duration = .seconds(300),
        waiting: ProcessingLimits = ProcessingLimits(),
        parked: ParkingLimits = ParkingLimits()
    ) {
        self.concurrency = concurrency
        self.order = order
        self.deduplicate = deduplicate
        self.retries = retries
        self.handlerTimeout = handlerTimeout
        self.waiting = waiting
        self.parked = parked
    }
}

/// Selects which messages of a ``MessageProcessor`` are handled one after the other, in the order of their arrival.
public struct ProcessingOrder<Value: Sendable>: Sendable {
    package enum Kind: Sendable {
        case none
        case topic
        case key(@Sendable (Value) -> String)
    }

    package let kind: Kind

    /// Messages are handled in any order.
    public static var none: ProcessingOrder { ProcessingOrder(kind: .none) }

    /// Messages of one topic are handled one after the other. While a message waits for its next attempt, the later
    /// messages of its topic wait, too. Messages of other topics do not wait.
    public static var byTopic: ProcessingOrder { ProcessingOrder(kind: .topic) }

    /// Messages with an equal key are handled one after the other. While a message waits for its next attempt, the
    /// later messages with its key wait, too. Messages with other keys do not wait.
    ///
    /// - Parameter key: Returns the key of a value, as in `\.customer`. Keys with the same description are equal.
    /// - Returns: The order.
    public static func by<Key: CustomStringConvertible & SendableMetatype>(
        _ key: @escaping @Sendable (Value) -> Key
    ) -> ProcessingOrder {
        ProcessingOrder(kind: .key { key($0).description })
    }
}

/// Selects which messages of a ``MessageProcessor`` count as copies of a message that was handled before. The processor
/// acknowledges a copy and does not call the handler.
public struct Deduplication<Value: Sendable>: Sendable {
    package let key: @Sendable (Value) -> String
    package let time: Duration
    package let maximumCount: Int

    /// Messages with an equal key are copies. With a message store, the keys of handled messages survive the end of the
    /// process.
    ///
    /// - Parameters:
    ///   - key: Returns the key of a value, as in `\.id`. Keys with the same description are equal.
    ///   - time: How long the key of a handled message is remembered.
    ///   - maximumCount: The largest number of remembered keys, 10,000 by default. The oldest keys are forgotten first.
    /// - Returns: The rule.
    public static func by<Key: CustomStringConvertible & SendableMetatype>(
        _ key: @escaping @Sendable (Value) -> Key, for time: Duration, maximumCount: Int = 10_000
    ) -> Deduplication {
        Deduplication(key: { key($0).description }, time: time, maximumCount: max(1, maximumCount))
    }
}

/// The pauses between the attempts to handle a message. Each pause is longer than the previous pause by a factor, up to
/// a maximum.
public struct RetrySchedule: Hashable, Sendable {
    /// The largest number of attempts, 5 by default. After the last attempt, the message is parked. Less than 1 counts
    /// as 1.
    public var maximumAttempts: Int

    /// The pause after the first attempt, 1 s by default.
    public var first: Duration

    /// The factor between a pause and the next pause, 2 by default. Less than 1 counts as 1.
    public var factor: Double

    /// The longest pause, 5 minutes by default.
    public var maximum: Duration

    /// The part of each pause that is random, from 0 to 1; 0.2 by default. With 0.2, a pause of 10 s lasts between 8 s
    /// and 10 s.
    public var jitter: Double

    /// Creates a schedule.
    ///
    /// - Parameters:
    ///   - maximumAttempts: The largest number of attempts; 5 by default.
    ///   - first: The pause after the first attempt; 1 s by default.
    ///   - factor: The factor between a pause and the next pause; 2 by default.
    ///   - maximum: The longest pause; 5 minutes by default.
    ///   - jitter: The part of each pause that is random; 0.2 by default.
    public init(
        maximumAttempts: Int = 5, first: Duration = .seconds(1), factor: Double = 2, maximum: Duration = .seconds(300),
        jitter: Double = 0.2
    ) {
        self.maximumAttempts = maximumAttempts
        self.first = first
        self.factor = factor
        self.maximum = maximum
        self.jitter = jitter
    }

    /// Returns the pause after the given number of failed attempts. `random` is a number from 0 to 1.
    package func pause(after attempts: Int, random: Double) -> Duration {
        let growth = factor.isNaN ? 1 : min(max(1, factor), 1e6)
        let maximum = min(max(.zero, maximum), .seconds(1_000_000_000))
        var pause = min(max(.zero, first), maximum)
        for _ in 1..<max(attempts, 1) where pause < maximum { pause = min(pause * growth, maximum) }
        return pause - pause * (min(max(jitter, 0), 1) * random)
    }
}

/// Limits of the messages that wait for a handler.
public struct ProcessingLimits: Hashable, Sendable {
    /// The largest number of messages, 10,000 by default. Less than 1 counts as 1.
    public var maximumCount: Int

    /// The number of bytes at which the processor takes no further message, 64 MiB by default. The number includes
    /// topics, properties, payloads and the processor's own data about each message.
    public var maximumBytes: Int

    /// Creates limits.
    ///
    /// - Parameters:
    ///   - maximumCount: The largest number of messages; 10,000 by default.
    ///   - maximumBytes: The number of bytes; 64 MiB by default.
    public init(maximumCount: Int = 10_000, maximumBytes: Int = 64 << 20) {
        self.maximumCount = maximumCount
        self.maximumBytes = maximumBytes
    }
}

/// Limits of parked messages, and the rule for a parked message that exceeds a limit.
public struct ParkingLimits: Hashable, Sendable {
    /// The rule for a message that must be parked when there is no room.
    public enum Overflow: Hashable, Sendable {
        /// The processor starts no more handlers until a parked message is retried or removed.
        case pause

        /// The oldest parked messages are removed.
        case removeOldest
    }

    /// The largest number of parked messages, 1,000 by default.
    public var maximumCount: Int

    /// The largest number of bytes of parked messages, 16 MiB by default. A single message that is larger is parked
    /// only if no other message is parked.
    public var maximumBytes: Int

    /// The time after which a parked message is removed. With `nil`, the default, time removes no message.
    public var maximumAge: Duration?

    /// The rule for a message that exceeds the limit of count or bytes; ``Overflow/pause`` by default.
    public var overflow: Overflow

    /// Creates limits.
    ///
    /// - Parameters:
    ///   - maximumCount: The largest number of parked messages; 1,000 by default.
    ///   - maximumBytes: The largest number of their bytes; 16 MiB by default.
    ///   - maximumAge: The time after which a parked message is removed; `nil`, never, by default.
    ///   - overflow: The rule for a message that exceeds a limit; `.pause` by default.
    public init(
        maximumCount: Int = 1_000, maximumBytes: Int = 16 << 20, maximumAge: Duration? = nil,
        overflow: Overflow = .pause
    ) {
        self.maximumCount = maximumCount
        self.maximumBytes = maximumBytes
        self.maximumAge = maximumAge
        self.overflow = overflow
    }
}
