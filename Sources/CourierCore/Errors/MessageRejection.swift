/// The cause of an error that carries the whole message that it is about.
package struct MessageRejection: Error {
    /// The message that failed.
    package let message: Message

    /// Wraps a message.
    package init(_ message: Message) { self.message = message }
}

extension CourierError {
    /// The whole message that a client gave up because the broker ended connections because of it; `nil` for every other
    /// failure.
    ///
    /// Save the message or publish it in another form. No text of the error shows its payload.
    public var rejectedMessage: Message? { (cause as? MessageRejection)?.message }
}
