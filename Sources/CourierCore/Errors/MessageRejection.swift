/// The `cause` of an error about a message that the client stopped sending. The rejection contains the message.
package struct MessageRejection: Error {
    /// The message that the client stopped sending.
    package let message: Message

    /// Creates the `cause` for an error about this message.
    package init(_ message: Message) { self.message = message }
}

extension CourierError {
    /// The message that the client stopped sending, because the broker ended connections right after the message was
    /// sent; `nil` for every other failure.
    ///
    /// Save the message, or publish it in another form. No text of the error shows the payload.
    public var rejectedMessage: Message? { (cause as? MessageRejection)?.message }
}
