/// A message that a reader could not use.
public struct DeadLetter: Sendable {
    /// The message as it came.
    public let message: Message

    /// Why: it names the topic, and for a message that could not be decoded the type and every adapter that was asked.
    public let error: CourierError

    /// Joins the two; apps need it in tests only.
    ///
    /// - Parameters:
    ///   - message: The message as it came.
    ///   - error: Why it could not be used.
    public init(message: Message, error: CourierError) {
        self.message = message
        self.error = error
    }
}
