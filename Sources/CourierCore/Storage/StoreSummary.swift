/// The number and size of the messages that a store has for one scope. The store finds these numbers without reading
/// the messages.
public struct StoreSummary: Hashable, Sendable {
    /// The number of stored outgoing messages.
    public let outgoingCount: Int

    /// The number of stored incoming messages.
    public let incomingCount: Int

    /// The number of payload bytes of all stored outgoing and incoming messages.
    public let payloadBytes: Int

    /// The highest message id that was ever used in this scope, outgoing or incoming; `nil` if no message was ever
    /// stored.
    public let lastMessageID: StoredMessage.ID?

    /// The session that the packet ids of the rows belong to: its client id, and its broker as `host:port`. `nil` if
    /// the client has stored no session, or if the store ignores ``StoreChange/rememberSession(_:)``.
    public let session: StoreScope?

    /// Creates a summary.
    ///
    /// - Parameters:
    ///   - outgoingCount: The number of stored outgoing messages.
    ///   - incomingCount: The number of stored incoming messages.
    ///   - payloadBytes: The number of payload bytes of all stored outgoing and incoming messages.
    ///   - lastMessageID: The highest message id that was ever used; `nil` if no message was ever stored.
    ///   - session: The session that the packet ids belong to; `nil` by default.
    public init(
        outgoingCount: Int, incomingCount: Int, payloadBytes: Int, lastMessageID: StoredMessage.ID?,
        session: StoreScope? = nil
    ) {
        self.outgoingCount = outgoingCount
        self.incomingCount = incomingCount
        self.payloadBytes = payloadBytes
        self.lastMessageID = lastMessageID
        self.session = session
    }
}
