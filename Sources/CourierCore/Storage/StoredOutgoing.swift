/// A stored outgoing message and the state of its delivery.
public struct StoredOutgoing: Hashable, Sendable {
    /// The state of the delivery.
    ///
    /// ```
    /// queued ──written with a packet id──▶ sent ──PUBACK──▶ (removed)
    ///                                       └──PUBREC──▶ received ──PUBCOMP──▶ (removed)
    /// ```
    public enum Progress: Hashable, Sendable {
        /// The message was never sent, or its packet id is no longer valid.
        case queued

        /// The message was sent with this packet id and is not acknowledged. If the broker keeps the session, the
        /// client sends the message again with DUP and the same id.
        case sent(packetID: UInt16)

        /// The broker has confirmed the message with PUBREC (QoS 2). The client may send PUBREL with this packet id
        /// again, but never the message.
        case received(packetID: UInt16)
    }

    /// The message.
    public let message: StoredMessage

    /// The state of the message's delivery.
    public let progress: Progress

    /// The number of connections that the broker ended right after this message was sent; see
    /// ``StoreChange/strike(_:count:)``.
    public let strikes: Int

    /// Creates a stored outgoing message.
    ///
    /// - Parameters:
    ///   - message: The message.
    ///   - progress: The state of its delivery.
    ///   - strikes: The number of connections that the broker ended right after this message was sent; 0 by default.
    public init(_ message: StoredMessage, _ progress: Progress, strikes: Int = 0) {
        self.message = message
        self.progress = progress
        self.strikes = strikes
    }
}
