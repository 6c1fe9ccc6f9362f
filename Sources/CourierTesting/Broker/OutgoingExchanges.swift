import MQTTCodec

/// The QoS 1 and 2 messages of one session that were sent and are not acknowledged.
///
/// A packet id is in use from the first PUBLISH until a PUBACK, a PUBCOMP or a refusal ends the exchange. It stays in
/// use if the connection is lost in between. Until the end of the exchange, no other message uses the packet id
/// ([MQTT-2.2.1-4]).
struct OutgoingExchanges: Sendable {
    /// The step of an exchange. At QoS 1, the exchange ends after `published`. At QoS 2, it goes from `published` to
    /// `released`, then it ends. A refusal by the client ends it at once.
    enum Step: Sendable {
        /// PUBLISH was sent; PUBACK or PUBREC is expected.
        case published(BrokerDelivery)
        /// PUBREL was sent; PUBCOMP is expected. The message itself is no longer needed.
        case released
    }

    private struct Exchange: Sendable {
        var step: Step
        /// A number that increases with each step, so that packets are sent again in their original order.
        var order: UInt64
        /// Whether the packet was sent on this connection. If so, it counts against the client's receive maximum.
        var isOnWire: Bool
    }

    private var exchanges: [PacketID: Exchange] = [:]
    private var lastID: UInt16 = 0
    private var lastOrder: UInt64 = 0
    /// The packet ids of messages to send again on a new connection. The next id is last, so that `popLast` returns it.
    private var unsent: [PacketID] = []

    /// How many exchanges count against the client's receive maximum on this connection.
    private(set) var onWireCount = 0

    var count: Int { exchanges.count }
    var ids: [PacketID] { exchanges.keys.sorted { $0.rawValue < $1.rawValue } }
    subscript(id: PacketID) -> Step? { exchanges[id]?.step }

    /// The messages in the step `published`, in the order in which they were sent.
    var published: [BrokerDelivery] {
        ordered.compactMap { if case .published(let delivery) = $0.value.step { delivery } else { nil } }
    }

    /// Begins an exchange with an unused packet id; returns `nil` if all ids are in use.
    mutating func begin(_ delivery: BrokerDelivery) -> PacketID? {
        guard exchanges.count < Int(UInt16.max) else { return nil }
        var id: PacketID?
        repeat {
            lastID &+= 1
            id = PacketID(rawValue: lastID)
        } while id.map { exchanges[$0] != nil } ?? true
        guard let id else { return nil }
        exchanges[id] = Exchange(step: .published(delivery), order: nextOrder(), isOnWire: true)
        onWireCount += 1
        return id
    }

    /// Handles PUBREC: the client has the message, and the packet id stays in use until PUBCOMP.
    mutating func release(_ id: PacketID) {
        guard let exchange = exchanges[id] else { return }
        if !exchange.isOnWire { onWireCount += 1 }
        exchanges[id] = Exchange(step: .released, order: nextOrder(), isOnWire: true)
    }

    /// Ends the exchange and frees its packet id.
    mutating func end(_ id: PacketID) {
        guard let exchange = exchanges.removeValue(forKey: id) else { return }
        if exchange.isOnWire { onWireCount -= 1 }
    }

    /// Records that the connection has ended. The packets of all exchanges must be sent again on the next connection
    /// ([MQTT-4.4.0-1]).
    mutating func connectionLost() {
        onWireCount = 0
        for id in exchanges.keys { exchanges[id]?.isOnWire = false }
    }

    /// Begins a new connection, and prepares ``nextUnsent()``. Returns the packet ids for which PUBREL must be sent, in
    /// the order in which their PUBRECs arrived.
    mutating func connectionResumed() -> [PacketID] {
        var releases: [PacketID] = []
        unsent = []
        for (id, exchange) in ordered {
            switch exchange.step {
            case .published: unsent.append(id)
            case .released:
                releases.append(id)
                exchanges[id]?.isOnWire = true
                onWireCount += 1
            }
        }
        unsent.reverse()
        return releases
    }

    /// Returns the next message to send again, and counts it as sent. Returns `nil` if no message remains.
    mutating func nextUnsent() -> (id: PacketID, delivery: BrokerDelivery)? {
        while let id = unsent.popLast() {
            guard let exchange = exchanges[id], !exchange.isOnWire, case .published(let delivery) = exchange.step
            else { continue }  // The message was acknowledged meanwhile.
            exchanges[id]?.isOnWire = true
            onWireCount += 1
            return (id, delivery)
        }
        return nil
    }

    private var ordered: [(key: PacketID, value: Exchange)] { exchanges.sorted { $0.value.order < $1.value.order } }

    private mutating func nextOrder() -> UInt64 {
        lastOrder += 1
        return lastOrder
    }
}
