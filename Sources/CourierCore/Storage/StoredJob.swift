public import Foundation

/// A received message that waits for the handler of a ``MessageProcessor``, or that was parked.
public struct StoredJob: Hashable, Sendable {
    /// Whether a job waits for its handler, or is parked.
    public enum Stage: Hashable, Sendable {
        /// The job waits. The next attempt may begin when this pause has passed, counted from the time `since`.
        case waiting(Duration, since: StoreTime)

        /// The message was parked at this date, and its handler is not called again. The reason is ``State/lastError``.
        case parked(at: Date)
    }

    /// The part of a job that changes with each attempt.
    public struct State: Hashable, Sendable {
        /// The name of the processor that handles the message.
        public var processor: String

        /// The key that identifies copies of the message; `nil` if the processor does not look for copies.
        public var deduplicationKey: String?

        /// The number of attempts that failed.
        public var attempts: Int

        /// The error of the last attempt, as a sentence; `nil` if no attempt failed.
        public var lastError: String?

        /// Whether the job waits or is parked.
        public var stage: Stage

        /// Creates a state.
        ///
        /// - Parameters:
        ///   - processor: The name of the processor.
        ///   - deduplicationKey: The key that identifies copies of the message; `nil` by default.
        ///   - attempts: The number of attempts that failed; 0 by default.
        ///   - lastError: The error of the last attempt; `nil` by default.
        ///   - stage: Whether the job waits or is parked.
        public init(
            processor: String, deduplicationKey: String? = nil, attempts: Int = 0, lastError: String? = nil,
            stage: Stage
        ) {
            self.processor = processor
            self.deduplicationKey = deduplicationKey
            self.attempts = attempts
            self.lastError = lastError
            self.stage = stage
        }

        /// Returns the state of a parked job that is retried: it waits without a pause, and its number of attempts is
        /// 0.
        package func retried(at time: StoreTime) -> State {
            var state = self
            (state.attempts, state.stage) = (0, .waiting(.zero, since: time))
            return state
        }

        /// Whether the job is parked.
        public var isParked: Bool { if case .parked = stage { true } else { false } }
    }

    /// The message.
    public let message: StoredMessage

    /// The part that changes with each attempt.
    public let state: State

    /// Creates a job.
    ///
    /// - Parameters:
    ///   - message: The message.
    ///   - state: The part that changes with each attempt.
    public init(_ message: StoredMessage, _ state: State) {
        self.message = message
        self.state = state
    }
}

/// The key of a message that was handled. A ``MessageProcessor`` recognizes copies of the message by this key.
public struct ProcessedKey: Hashable, Sendable {
    /// The name of the processor.
    public let processor: String

    /// The key.
    public let key: String

    /// The time when the message was handled.
    public let handledAt: StoreTime

    /// Creates a key.
    ///
    /// - Parameters:
    ///   - processor: The name of the processor.
    ///   - key: The key.
    ///   - handledAt: The time when the message was handled.
    public init(processor: String, key: String, handledAt: StoreTime) {
        self.processor = processor
        self.key = key
        self.handledAt = handledAt
    }
}
