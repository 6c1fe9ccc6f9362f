/// An outgoing message and how far its delivery has come.
public struct StoredOutgoing: Hashable, Sendable {
    /// How far the delivery has come.
    ///
    /// ```
    /// queued ──written with a packet id──▶ sent ──PUBACK──▶ (removed)
    ///                                       └──PUBREC──▶ received ──PUBCOMP──▶ (removed)
    /// ```
    public enum Progress: Hashable, Sendable {
        /// Never written to a connection.
        case queued

        /// Written with this packet id, not acknowledged: sent again with DUP and the same id when the session goes
        /// on.
        case sent(packetID: UInt16)

        /// The broker has it (PUBREC, QoS 2): only PUBREL with this packet id is sent again, never the message.
        case received(packetID: UInt16)
    }

    /// The message.
    public let message: StoredMessage

    /// How far its delivery has come.
    public let progress: Progress

    /// How often the broker ended the connection after it had received this message; see
    /// ``StoreChange/strike(_:count:)``.
    public let strikes: Int

    /// Collects the fields.
    ///
    /// - Parameters:
    ///   - message: The message.
    ///   - progress: How far its delivery has come.
    ///   - strikes: How often the broker ended the connection after it had received this message; 0 by default.
    public init(_ message: StoredMessage, _ progress: Progress, strikes: Int = 0) {
        self.message = message
        self.progress = progress
        self.strikes = strikes
    }
}
