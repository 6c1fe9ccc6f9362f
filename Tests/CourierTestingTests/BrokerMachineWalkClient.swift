import CourierTesting
import MQTTCodec

/// The identity of a test message, which is encoded in its payload.
struct WalkMessage: Hashable, CustomStringConvertible {
    let publisher: Int
    let topic: Int
    let qos: PacketQoS
    let number: Int

    init(publisher: Int, topic: Int, qos: PacketQoS, number: Int) {
        self.publisher = publisher
        self.topic = topic
        self.qos = qos
        self.number = number
    }

    init?(_ payload: [UInt8]) {
        let parts = String(decoding: payload, as: UTF8.self).split(separator: " ").compactMap { Int($0) }
        guard parts.count == 4, let qos = PacketQoS(rawValue: UInt8(parts[2])) else { return nil }
        self.init(publisher: parts[0], topic: parts[1], qos: qos, number: parts[3])
    }

    /// Messages with an equal stream must stay in order.
    var stream: Self { Self(publisher: publisher, topic: topic, qos: qos, number: 0) }
    var description: String { "\(publisher) \(topic) \(qos.rawValue) \(number)" }
}

/// A client that keeps its session across connections and checks the packets from the broker.
struct WalkClient {
    /// A forbidden action of the broker.
    struct Violation: Error { let sentence: String }

    private enum Step {
        case published(WalkMessage)
        case released
    }

    let index: Int
    let version: ProtocolVersion
    let receiveMaximum: Int
    private(set) var connection: ConnectionID?
    private var isAccepted = false
    private var hasSession = false

    // Sending: ids in the order of their packets.
    private var outgoing: [(id: PacketID, step: Step)] = []
    private var lastID: UInt16 = 0
    private var quota = 0
    private var counts: [WalkMessage: Int] = [:]
    /// All published messages, delivered or not.
    private(set) var published: [WalkMessage] = []

    // Receiving.
    private var unreleased: Set<PacketID> = []
    /// The messages of this connection that are not acknowledged, by id.
    private var unacknowledged: [PacketID: WalkMessage] = [:]
    private var delayed: [Packet] = []
    private(set) var received: [WalkMessage] = []

    init(index: Int, version: ProtocolVersion, receiveMaximum: Int) {
        self.index = index
        self.version = version
        self.receiveMaximum = receiveMaximum
    }

    var isConnected: Bool { connection != nil && isAccepted }
    var mayPublish: Bool { isConnected && quota > 0 && outgoing.count < 100 }
    var isIdle: Bool { outgoing.isEmpty && delayed.isEmpty && unreleased.isEmpty && unacknowledged.isEmpty }

    /// The first packets of a new connection.
    mutating func connect(_ id: ConnectionID) -> [Packet] {
        connection = id
        isAccepted = false
        quota = 0
        unacknowledged = [:]
        delayed = []
        let properties: PacketProperties =
            version >= .v5 ? [.sessionExpiryInterval(.max), .receiveMaximum(UInt16(receiveMaximum))] : []
        return [
            .connect(
                Connect(
                    version: version, clientID: "client-\(index)", isCleanStart: false, keepAlive: 0,
                    properties: properties))
        ]
    }

    mutating func disconnect() { connection = nil }

    mutating func publish(_ topic: Int, _ qos: PacketQoS) -> Packet {
        let stream = WalkMessage(publisher: index, topic: topic, qos: qos, number: 0)
        counts[stream, default: 0] += 1
        let message = WalkMessage(publisher: index, topic: topic, qos: qos, number: counts[stream, default: 0])
        published.append(message)
        let id = nextID()
        outgoing.append((id, .published(message)))
        quota -= 1
        return packet(message, id, isDuplicate: false)
    }

    /// Removes and returns the oldest delayed acknowledgement.
    mutating func acknowledge() -> Packet? {
        guard isConnected, !delayed.isEmpty else { return nil }
        let packet = delayed.removeFirst()
        if case .pubAck(let acknowledgement) = packet { unacknowledged[acknowledgement.packetID] = nil }
        if case .pubComp(let acknowledgement) = packet { unacknowledged[acknowledgement.packetID] = nil }
        return packet
    }

    /// Receives a packet from the broker, and returns the immediate answers.
    mutating func receive(_ packet: Packet) throws(Violation) -> [Packet] {
        switch packet {
        case .connAck(let connAck): return try accepted(connAck)
        case .publish(let publish):
            try receive(publish)
            return []
        case .pubAck(let acknowledgement):
            try end(acknowledgement.packetID)
            return []
        case .pubRec(let acknowledgement):
            guard let place = outgoing.firstIndex(where: { $0.id == acknowledgement.packetID }) else {
                throw Violation(sentence: "PUBREC of an unknown id")
            }
            let id = outgoing.remove(at: place).id
            outgoing.append((id, .released))
            return [.pubRel(id)]
        case .pubRel(let acknowledgement):
            unreleased.remove(acknowledgement.packetID)
            delayed.append(.pubComp(acknowledgement.packetID))
            return []
        case .pubComp(let acknowledgement):
            try end(acknowledgement.packetID)
            return []
        case .subAck: return []
        default: throw Violation(sentence: "unexpected \(packet)")
        }
    }
}

extension WalkClient {
    private mutating func accepted(_ connAck: ConnAck) throws(Violation) -> [Packet] {
        guard connAck.reasonCode == .success else { throw Violation(sentence: "refused") }
        isAccepted = true
        if version >= .v5, connAck.isSessionPresent != hasSession { throw Violation(sentence: "session present") }
        quota = version >= .v5 ? Int(connAck.properties.receiveMaximum ?? .max) : 20
        guard hasSession else {
            hasSession = true
            let subscribe = Subscribe(
                packetID: 65_000,
                subscriptions: [Subscription("t/#", qos: .exactlyOnce), Subscription("+/0", qos: .exactlyOnce)])
            return [.subscribe(subscribe)]
        }
        let releases = outgoing.compactMap { if case .released = $0.step { Packet.pubRel($0.id) } else { nil } }
        let publishes = outgoing.compactMap { entry in
            if case .published(let message) = entry.step {
                packet(message, entry.id, isDuplicate: true)
            } else {
                nil
            }
        }
        quota -= publishes.count + releases.count
        return releases + publishes
    }

    private mutating func receive(_ publish: Publish) throws(Violation) {
        guard let message = WalkMessage(publish.payload), publish.topic == "t/\(message.topic)" else {
            throw Violation(sentence: "a message that nobody sent")
        }
        guard publish.delivery.qos == message.qos else { throw Violation(sentence: "QoS of \(message)") }
        guard let id = publish.delivery.packetID else {
            received.append(message)
            return
        }
        if unacknowledged[id] != nil { throw Violation(sentence: "id \(id) of \(message) is in use") }
        unacknowledged[id] = message
        if version >= .v5, unacknowledged.count > receiveMaximum {
            throw Violation(sentence: "\(unacknowledged.count) messages at once, not \(receiveMaximum)")
        }
        switch publish.delivery.qos {
        case .atMostOnce: break
        case .atLeastOnce:
            received.append(message)
            delayed.append(.pubAck(id))
        case .exactlyOnce:
            if unreleased.insert(id).inserted {
                received.append(message)
            } else if !publish.delivery.isDuplicate {
                throw Violation(sentence: "id \(id) of \(message) is not released")
            }
            delayed.append(.pubRec(id))
        }
    }

    private mutating func end(_ id: PacketID) throws(Violation) {
        guard let place = outgoing.firstIndex(where: { $0.id == id }) else {
            throw Violation(sentence: "acknowledgement of unknown id \(id)")
        }
        outgoing.remove(at: place)
        quota += 1
    }

    private mutating func nextID() -> PacketID {
        while true {
            lastID = lastID % 200 + 1  // Ids are reused after 200 messages.
            if let id = PacketID(rawValue: lastID), !outgoing.contains(where: { $0.id == id }) { return id }
        }
    }

    private func packet(_ message: WalkMessage, _ id: PacketID, isDuplicate: Bool) -> Packet {
        let delivery: Delivery =
            switch message.qos {
            case .atMostOnce: .atMostOnce
            case .atLeastOnce: .atLeastOnce(id, isDuplicate: isDuplicate)
            case .exactlyOnce: .exactlyOnce(id, isDuplicate: isDuplicate)
            }
        return .publish(
            Publish(topic: "t/\(message.topic)", payload: Array(message.description.utf8), delivery: delivery))
    }
}
