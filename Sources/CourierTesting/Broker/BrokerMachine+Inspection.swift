package import MQTTCodec

extension BrokerMachine {
    /// The number of open connections, including those that wait for CONNECT.
    public var connectionCount: Int { awaitingConnect.count + links.count }
    /// The number of sessions, connected or not.
    public var sessionCount: Int { sessions.count }
    /// The number of retained messages. An expired message counts until a subscriber requests it.
    public var retainedMessageCount: Int { retained.count }
    /// The number of dropped messages.
    ///
    /// A message to a session is dropped if the session's queue is full or the packet is too large for the client. A
    /// QoS 0 message is also dropped if the client is not connected or is congested.
    ///
    /// If there is no room to store a retained message of the operator or of a will, the message is counted too. If one
    /// SUBSCRIBE exceeds its limit of retained messages, the remaining messages of the current filter are counted. The
    /// later filters of this SUBSCRIBE are not evaluated, so their messages are not counted.
    public var droppedMessageCount: Int { dropped }

    /// The visible state of a session.
    package struct SessionState: Hashable, Sendable {
        /// The connection of the client; `nil` if the client is not connected.
        package let connection: ConnectionID?
        /// The time at which the session ends if the client does not reconnect. `nil` while the client is connected, or
        /// if the session never expires.
        package let expiresAt: Instant?
        /// The filters, in the order of their bytes.
        package let filters: [String]
        /// The number of QoS 1 and 2 messages in the queue.
        package let queuedCount: Int
        /// The packet ids of the unfinished QoS 1 and 2 messages to the client, lowest first.
        package let outgoingIDs: [PacketID]
        /// The number of unfinished messages to the client that count against its receive maximum now.
        package let onWireCount: Int
        /// The packet ids of the QoS 2 messages from the client that wait for PUBREL, lowest first.
        package let incomingIDs: [PacketID]
        /// Whether the session has a will that is published after a delay.
        package let hasPendingWill: Bool
    }

    /// Returns the state of a client's session; `nil` if the client has no session.
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

    /// The client identifiers of all sessions, in the order of their bytes.
    package var clientIDs: [String] { sessionIDs.keys.sorted().map(\.string) }
    /// The number of nodes in the subscription tree; 0 without subscriptions.
    package var subscriptionNodeCount: Int { subscriptions.nodeCount }
}
