/// A received message that a reader could not use: it could not be decoded, or it is a request without a response
/// topic.
public struct DeadLetter: Sendable {
    /// The received message.
    public let message: Message

    /// The reason. Its text names the topic. If the message could not be decoded, the text also names the type and
    /// every adapter that was tried.
    public let error: CourierError

    /// Creates a dead letter. Apps need this initializer only in tests.
    ///
    /// - Parameters:
    ///   - message: The received message.
    ///   - error: The reason why the reader could not use the message.
    public init(message: Message, error: CourierError) {
        self.message = message
        self.error = error
    }
}
