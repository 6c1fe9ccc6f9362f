/// What a store holds for one scope, found without reading the messages.
public struct StoreSummary: Hashable, Sendable {
    /// How many outgoing messages are kept.
    public let outgoingCount: Int

    /// How many incoming messages are kept.
    public let incomingCount: Int

    /// How many bytes of payload both have together.
    public let payloadBytes: Int

    /// The highest message id ever given out in this scope, in either direction; `nil` when there was none.
    public let lastMessageID: StoredMessage.ID?

    /// The session whose packet ids the rows have: its client id, and its broker as `host:port`. `nil` if the client has named
    /// none, or the store does not keep it; see ``StoreChange/rememberSession(_:)``.
    public let session: StoreScope?

    /// Collects the figures.
    ///
    /// - Parameters:
    ///   - outgoingCount: How many outgoing messages are kept.
    ///   - incomingCount: How many incoming messages are kept.
    ///   - payloadBytes: How many bytes of payload both have together.
    ///   - lastMessageID: The highest message id ever given out.
    ///   - session: The session whose packet ids the rows have; `nil` by default.
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
