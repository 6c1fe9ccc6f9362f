public import Foundation

/// The data that a handler of a ``MessageProcessor`` gets about its message and about earlier attempts.
public struct ProcessingContext: Sendable {
    /// The number of this attempt; 1 for the first.
    public let attempt: Int

    /// The date when the client received the message.
    public let firstReceived: Date

    /// The error of the last attempt that failed, as a sentence; `nil` if no attempt has failed.
    public let lastError: String?

    /// The message: its topic, payload and properties.
    public let message: Message

    /// Creates a context. Apps need this initializer only in tests of their handlers.
    ///
    /// - Parameters:
    ///   - message: The message.
    ///   - attempt: The number of the attempt; 1 by default.
    ///   - firstReceived: The date when the client received the message; now by default.
    ///   - lastError: The error of the attempt before; `nil` by default.
    public init(message: Message, attempt: Int = 1, firstReceived: Date = Date(), lastError: String? = nil) {
        self.message = message
        self.attempt = attempt
        self.firstReceived = firstReceived
        self.lastError = lastError
    }
}

/// A handler throws this error to choose the time of the next attempt. The next attempt follows even if the number of
/// attempts has reached ``RetrySchedule/maximumAttempts``.
///
/// ```swift
/// throw Retry(after: .seconds(30))  // The payment provider is closed for maintenance.
/// ```
public struct Retry: Error, Hashable, Sendable {
    /// The pause before the next attempt.
    public let pause: Duration

    /// The reason for another attempt. In the next attempt, ``ProcessingContext/lastError`` contains this reason.
    public let reason: String

    /// Creates the error.
    ///
    /// - Parameters:
    ///   - pause: The pause before the next attempt.
    ///   - reason: The reason; a general sentence by default.
    public init(after pause: Duration, reason: String = "The handler asked for another attempt.") {
        self.pause = pause
        self.reason = reason
    }
}

/// A handler throws this error to park its message at once, because no further attempt can succeed.
///
/// ```swift
/// throw Park(reason: "The order has no items.")
/// ```
public struct Park: Error, Hashable, Sendable {
    /// The reason for parking. ``ParkedMessage/reason`` contains this reason.
    public let reason: String

    /// Creates the error.
    ///
    /// - Parameter reason: The reason, as a sentence.
    public init(reason: String) { self.reason = reason }
}
