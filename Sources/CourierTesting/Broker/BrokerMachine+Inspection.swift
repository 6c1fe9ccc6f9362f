package import MQTTCodec

extension BrokerMachine {
    /// How many connections are open, those that wait for CONNECT included.
    public var connectionCount: Int { awaitingConnect.count + links.count }
    /// How many sessions there are, connected or not.
    public var sessionCount: Int { sessions.count }
    /// How many retained messages there are; expired ones count until somebody asks for them.
    public var retainedMessageCount: Int { retained.count }
    /// How many messages were not delivered to a session: its queue was full, the packet too large for the client, or the
    /// client away or congested at QoS 0. A message that the retained store has no room for, and that nobody can be told
    /// about, counts too, and so do the retained messages of the filter at which one SUBSCRIBE had brought as many as it
    /// may; its further filters are not looked at.
    public var droppedMessageCount: Int { dropped }

    /// What a session looks like from outside.
    package struct SessionState: Hashable, Sendable {
        /// The connection of the client; `nil` while it is away.
        package let connection: ConnectionID?
        /// When the session ends unless the client comes back; `nil` while it is connected, and for ever.
        package let expiresAt: Instant?
        /// The filters, in the order of their bytes.
        package let filters: [String]
        /// How many QoS 1 and 2 messages wait to be sent.
        package let queuedCount: Int
        /// The packet ids of the QoS 1 and 2 messages to the client that are not over, lowest first.
        package let outgoingIDs: [PacketID]
        /// How many of them count against the client's receive maximum now.
        package let onWireCount: Int
        /// The packet ids of the QoS 2 messages from the client that wait for PUBREL, lowest first.
        package let incomingIDs: [PacketID]
        /// Whether a will waits for its delay to end.
        package let hasPendingWill: Bool
    }

    /// The session of a client; `nil` when it has none.
    package func sessionState(of clientID: String) -> SessionState? {
        guard let id = sessionIDs[ExactText(clientID)], let session = sessions[id] else { return nil }
        return SessionState(
            connection: session.connection, expiresAt: session.expiresAt,
            filters: session.subscriptions.map { ExactText($0.text) }.sorted().map(\.string),
            queuedCount: session.queue.count, outgoingIDs: session.outgoing.ids,
            onWireCount: session.outgoing.onWireCount,
            incomingIDs: session.incoming.sorted { $0.rawValue < $1.rawValue },
            hasPendingWill: session.pendingWill != nil)
    }

    /// The client identifiers that have a session, in the order of their bytes.
    package var clientIDs: [String] { sessionIDs.keys.sorted().map(\.string) }
    /// How many nodes the tree of subscriptions has; 0 when there is no subscription.
    package var subscriptionNodeCount: Int { subscriptions.nodeCount }
}
