/// A stored outgoing message and the state of its delivery.
public struct StoredOutgoing: Hashable, Sendable {
    /// The state of the delivery.
    ///
    /// ```
    /// queued ──written with a packet id──▶ sent ──PUBACK──▶ (removed)
    ///                                       └──PUBREC──▶ received ──PUBCOMP──▶ (removed)
    /// ```
    public enum Progress: Hashable, Sendable {
        /// The message has no packet id: it was never sent, or its earlier packet id is no longer valid.
        case queued

        /// The message was sent with this packet id and is not acknowledged. If the session continues, it is sent again
        /// with DUP and the same id.
        case sent(packetID: UInt16)

        /// The broker received the message (PUBREC, QoS 2). Only PUBREL with this packet id is sent again, never the
        /// message.
        case received(packetID: UInt16)
    }

    /// The message.
    public let message: StoredMessage

    /// The state of its delivery.
    public let progress: Progress

    /// The number of connections that the broker ended after it had received this message; see
    /// ``StoreChange/strike(_:count:)``.
    public let strikes: Int

    /// Creates a stored outgoing message.
    ///
    /// - Parameters:
    ///   - message: The message.
    ///   - progress: The state of its delivery.
    ///   - strikes: The number of connections that the broker ended after it had received this message; 0 by default.
    public init(_ message: StoredMessage, _ progress: Progress, strikes: Int = 0) {
        self.message = message
        self.progress = progress
        self.strikes = strikes
    }
}
