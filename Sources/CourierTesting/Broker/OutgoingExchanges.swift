import MQTTCodec

/// The QoS 1 and 2 messages of one session that were sent and are not acknowledged.
///
/// A packet id is in use from the first PUBLISH until the PUBACK, PUBCOMP or refusal that ends the exchange, over any
/// number of connections, and is given to no other message meanwhile ([MQTT-2.2.1-4]).
struct OutgoingExchanges: Sendable {
    /// `published → gone` at QoS 1; `published → released → gone` at QoS 2. A refusal ends it at once.
    enum Step: Sendable {
        /// PUBLISH is sent; PUBACK or PUBREC is due.
        case published(BrokerDelivery)
        /// PUBREL is sent; PUBCOMP is due. The message itself is not needed any more.
        case released
    }

    private struct Exchange: Sendable {
        var step: Step
        /// Grows with each step, so that packets are sent again in the order of their first sending.
        var order: UInt64
        /// Whether the packet was sent on this connection, and so counts against the client's receive maximum.
        var isOnWire: Bool
    }

    private var exchanges: [PacketID: Exchange] = [:]
    private var lastID: UInt16 = 0
    private var lastOrder: UInt64 = 0
    /// What a new connection has to send again, the first last.
    private var unsent: [PacketID] = []

    /// How many exchanges count against the receive maximum of the connection.
    private(set) var onWireCount = 0

    var count: Int { exchanges.count }
    var ids: [PacketID] { exchanges.keys.sorted { $0.rawValue < $1.rawValue } }
    subscript(id: PacketID) -> Step? { exchanges[id]?.step }

    /// The messages that were published and not acknowledged, in order.
    var published: [BrokerDelivery] {
        ordered.compactMap { if case .published(let delivery) = $0.value.step { delivery } else { nil } }
    }

    /// Begins an exchange with an id that is not in use; `nil` when all are.
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

    /// PUBREC came: the message is the client's, and its id waits for PUBCOMP.
    mutating func release(_ id: PacketID) {
        guard let exchange = exchanges[id] else { return }
        if !exchange.isOnWire { onWireCount += 1 }
        exchanges[id] = Exchange(step: .released, order: nextOrder(), isOnWire: true)
    }

    /// The exchange is over, and its id free.
    mutating func end(_ id: PacketID) {
        guard let exchange = exchanges.removeValue(forKey: id) else { return }
        if exchange.isOnWire { onWireCount -= 1 }
    }

    /// The connection is gone; what was not acknowledged must be sent again on the next ([MQTT-4.4.0-1]).
    mutating func connectionLost() {
        onWireCount = 0
        for id in exchanges.keys { exchanges[id]?.isOnWire = false }
    }

    /// There is a new connection: returns the ids to send PUBREL for, in order, and prepares ``nextUnsent()``.
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

    /// Takes the next message to send again, which then counts as sent.
    mutating func nextUnsent() -> (id: PacketID, delivery: BrokerDelivery)? {
        while let id = unsent.popLast() {
            guard let exchange = exchanges[id], !exchange.isOnWire, case .published(let delivery) = exchange.step
            else { continue }  // Acknowledged meanwhile.
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
