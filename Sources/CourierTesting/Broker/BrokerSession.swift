import MQTTCodec

/// The state that the broker stores for a client. It may outlive the client's connections (4.1).
struct BrokerSession: Sendable {
    typealias Instant = ContinuousClock.Instant

    /// Whether the client is connected.
    enum Presence: Sendable {
        case connected(ConnectionID)
        /// The client is not connected. The session ends at `expiresAt`; `nil` means that it never ends.
        case away(expiresAt: Instant?)
    }

    /// A will whose delay is not over.
    struct PendingWill: Sendable {
        let will: BrokerWill
        let dueAt: Instant
    }

    let id: SessionID
    let clientID: ExactText
    var presence: Presence
    /// The time that the session outlives the connection. `nil` means no limit. Zero means that the session ends
    /// together with the connection.
    var expiry: Duration?
    var pendingWill: PendingWill?
    var subscriptions: Set<BrokerFilter> = []
    /// The QoS 1 and 2 messages that are not sent yet.
    var queue = DeliveryQueue()
    /// The QoS 1 and 2 messages that were sent and are not acknowledged.
    var outgoing = OutgoingExchanges()
    /// The QoS 2 messages from the client that wait for PUBREL.
    var incoming: Set<PacketID> = []

    var connection: ConnectionID? { if case .connected(let id) = presence { id } else { nil } }
    var expiresAt: Instant? { if case .away(let instant) = presence { instant } else { nil } }
}
