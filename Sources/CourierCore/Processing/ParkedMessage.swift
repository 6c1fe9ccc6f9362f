public import Foundation

/// A message that a ``MessageProcessor`` could not handle and no longer tries to handle. The message is kept until it
/// is retried or removed. The limits in ``ParkingLimits`` may also remove the message.
public struct ParkedMessage: Hashable, Sendable, Identifiable {
    /// The number of the message, unique in its client.
    public let id: StoredMessage.ID

    /// The name of the processor.
    public let processor: String

    /// The message.
    public let message: Message

    /// The number of attempts to handle the message.
    public let attempts: Int

    /// Why the message was parked: the last error, as a sentence.
    public let reason: String

    /// The date when the client received the message.
    public let firstReceived: Date

    /// The date when the message was parked.
    public let parkedAt: Date

    /// Creates a parked message. Apps need this initializer only in tests.
    ///
    /// - Parameters:
    ///   - id: The number of the message.
    ///   - processor: The name of the processor.
    ///   - message: The message.
    ///   - attempts: The number of attempts.
    ///   - reason: Why the message was parked.
    ///   - firstReceived: The date when the client received the message.
    ///   - parkedAt: The date when the message was parked.
    public init(
        id: StoredMessage.ID, processor: String, message: Message, attempts: Int, reason: String, firstReceived: Date,
        parkedAt: Date
    ) {
        self.id = id
        self.processor = processor
        self.message = message
        self.attempts = attempts
        self.reason = reason
        self.firstReceived = firstReceived
        self.parkedAt = parkedAt
    }
}

/// The parked messages of a client. The methods list these messages, and retry or remove them.
///
/// ```swift
/// for parked in try await client.parked.messages() { print(parked.message.topic, parked.reason) }
/// try await client.parked.retry(parked.id)
/// ```
///
/// With a message store, parked messages survive the end of the process. Without a store, parked messages are in memory
/// until the client ends. Messages that an earlier process parked are included when the client has opened its message
/// store, which happens at the first attempt to connect.
public protocol ParkedMessages: Sendable {
    /// Returns parked messages in the order of their ids.
    ///
    /// - Parameters:
    ///   - processor: The name of a processor; `nil` for all processors.
    ///   - id: The last id of the page before; `nil` for the first page.
    ///   - limit: The largest number of messages.
    /// - Returns: The page. It is empty after the last page.
    /// - Throws: A ``CourierError`` if the store cannot be read.
    func messages(of processor: String?, after id: StoredMessage.ID?, limit: Int) async throws -> [ParkedMessage]

    /// Returns a parked message to its processor, which handles it again. Attempts are counted from 1 again. If the
    /// processor does not run now, the next processor with its name handles the message.
    ///
    /// - Parameter id: The number of the message.
    /// - Returns: `false` if there is no parked message with this number.
    /// - Throws: A ``CourierError`` if the store cannot be read or written.
    @discardableResult
    func retry(_ id: StoredMessage.ID) async throws -> Bool

    /// Removes a parked message.
    ///
    /// - Parameter id: The number of the message.
    /// - Returns: `false` if there is no parked message with this number.
    /// - Throws: A ``CourierError`` if the store cannot be read or written.
    @discardableResult
    func remove(_ id: StoredMessage.ID) async throws -> Bool
}

extension ParkedMessages {
    /// Returns the first 1,000 parked messages, in the order of their ids.
    ///
    /// - Parameter processor: The name of a processor; `nil`, the default, for all processors.
    /// - Returns: The messages.
    /// - Throws: A ``CourierError`` if the store cannot be read.
    public func messages(of processor: String? = nil) async throws -> [ParkedMessage] {
        try await messages(of: processor, after: nil, limit: 1_000)
    }
}
