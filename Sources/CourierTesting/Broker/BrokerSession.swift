import MQTTCodec

/// What the broker remembers of a client, which may outlive its connections (4.1).
struct BrokerSession: Sendable {
    typealias Instant = ContinuousClock.Instant

    /// Where the client is.
    enum Presence: Sendable {
        case connected(ConnectionID)
        /// Gone; the session ends at `expiresAt`, never where that is `nil`.
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
    /// For how long the session outlives the connection; `nil` is for ever, zero not at all.
    var expiry: Duration?
    var pendingWill: PendingWill?
    var subscriptions: Set<BrokerFilter> = []
    /// The QoS 1 and 2 messages that were not sent yet.
    var queue = DeliveryQueue()
    /// The QoS 1 and 2 messages that were.
    var outgoing = OutgoingExchanges()
    /// The QoS 2 messages from the client that wait for PUBREL.
    var incoming: Set<PacketID> = []

    var connection: ConnectionID? { if case .connected(let id) = presence { id } else { nil } }
    var expiresAt: Instant? { if case .away(let instant) = presence { instant } else { nil } }
}
