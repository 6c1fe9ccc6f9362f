import MQTTCodec

/// A model of a server with one client and one session. It implements only what the protocol requires, and checks the
/// client strictly.
struct ServerModel {
    /// A message to the client whose exchange is not finished.
    private struct Outgoing {
        let serial: Int
        let qos: PacketQoS
        /// True after PUBREC was received: from then on, PUBREL is sent.
        var isReleased = false
        /// True if the message was sent on this connection.
        var isSent = false
    }

    /// The client's messages, in the order in which the server accepted them.
    private(set) var delivered: [Int] = []
    /// The number of lost sessions. After a loss, messages may arrive twice.
    private(set) var sessionsLost = 0

    let version: ProtocolVersion
    /// The receive maximum of the current connection. It changes from connection to connection.
    var receiveMaximum: Int
    /// If true, the model has a planted mistake: it delivers a QoS 2 message at every PUBLISH. Walks must find it.
    let deliversTwice: Bool
    /// If true, some messages to the client are larger than the client's limit.
    let sendsLargeMessages: Bool

    private var isConnected = false
    private var hasSession = false
    /// The QoS 2 packet ids whose PUBREL was not received.
    private var held: Set<PacketID> = []
    /// The ids in ``held`` that an earlier process of the client left. The client may use them for packets other than
    /// QoS 2.
    private var left: Set<PacketID> = []
    /// The unfinished QoS 2 packet ids of this connection. They count against the server's receive maximum.
    private var counted: Set<PacketID> = []
    private var outgoing: [PacketID: Outgoing] = [:]
    private var order: [PacketID] = []
    private var waiting: [Int] = []
    private var nextID: UInt16 = 0
    private var aliases: [UInt16: String] = [:]
    private var clientReceiveMaximum = Int(UInt16.max)

    init(version: ProtocolVersion, receiveMaximum: Int, deliversTwice: Bool, sendsLargeMessages: Bool) {
        self.version = version
        self.receiveMaximum = receiveMaximum
        self.deliversTwice = deliversTwice
        self.sendsLargeMessages = sendsLargeMessages
    }

    var isIdle: Bool { outgoing.isEmpty && waiting.isEmpty }

    /// Creates the session of an earlier client process that left unfinished exchanges.
    mutating func beginSession(holding ids: Set<PacketID>) {
        hasSession = true
        (held, left) = (ids, ids)
    }

    /// Notes the end of the connection. The session remains.
    mutating func disconnected() {
        isConnected = false
        aliases = [:]
        counted = []
        for id in order { outgoing[id]?.isSent = false }
    }

    /// Restarts the server. Without `keepingSession`, the session is lost.
    mutating func restarted(keepingSession: Bool) {
        disconnected()
        guard !keepingSession else { return }
        hasSession = false
        (held, left) = ([], [])
        // The server has lost its unfinished exchanges to the client, so it starts them again.
        waiting = order.compactMap { outgoing[$0]?.serial } + waiting
        outgoing = [:]
        order = []
        sessionsLost += 1
    }

    /// Queues a message for the client.
    mutating func publish(_ serial: Int) { waiting.append(serial) }

    /// Sends the messages that the client's receive maximum allows.
    mutating func pump(_ send: (Packet) -> Void) {
        guard isConnected else { return }
        while !waiting.isEmpty, outgoing.values.count(where: { $0.isSent && !$0.isReleased }) < clientReceiveMaximum {
            let serial = waiting.removeFirst()
            let qos = PacketQoS(rawValue: UInt8(serial % 3)) ?? .atMostOnce
            guard qos != .atMostOnce else {
                send(.publish(message(serial)))
                continue
            }
            repeat { nextID = nextID &+ 1 } while nextID == 0 || outgoing[PacketID(rawValue: nextID) ?? 1] != nil
            guard let id = PacketID(rawValue: nextID) else { continue }
            outgoing[id] = Outgoing(serial: serial, qos: qos, isSent: true)
            order.append(id)
            sendPublish(id, isDuplicate: false, send)
        }
    }

    private func sendPublish(_ id: PacketID, isDuplicate: Bool, _ send: (Packet) -> Void) {
        guard let entry = outgoing[id],
            let delivery = Delivery(qos: entry.qos, packetID: id, isDuplicate: isDuplicate)
        else { return }
        send(.publish(message(entry.serial, delivery)))
    }

    private func message(_ serial: Int, _ delivery: Delivery = .atMostOnce) -> Publish {
        let isLarge = sendsLargeMessages && serial % 4 == 0
        return Publish(
            topic: isLarge ? LargeMessage.topic(serial) : "to/client",
            payload: isLarge ? LargeMessage.payload : Payload.bytes(serial), delivery: delivery)
    }

    /// Handles a packet of the client and sends the response.
    mutating func received(_ packet: Packet, _ send: (Packet) -> Void) throws(Broken) {
        switch packet {
        case .connect(let connect): received(connect, send)
        case .publish(let publish): try received(publish, send)
        case .pubRel(let release):
            held.remove(release.packetID)
            left.remove(release.packetID)
            counted.remove(release.packetID)
            send(.pubComp(Acknowledgement(packetID: release.packetID)))
        case .pubAck(let answer):
            guard outgoing[answer.packetID]?.qos == .atLeastOnce else {
                throw Broken("PUBACK \(answer.packetID) for no QoS 1 message")
            }
            finish(answer.packetID)
        case .pubRec(let answer):
            guard outgoing[answer.packetID]?.qos == .exactlyOnce else {
                throw Broken("PUBREC \(answer.packetID) for no QoS 2 message")
            }
            outgoing[answer.packetID]?.isReleased = true
            send(.pubRel(Acknowledgement(packetID: answer.packetID)))
        case .pubComp(let answer): finish(answer.packetID)
        case .pingReq: send(.pingResp)
        case .disconnect: break
        case .subscribe(let subscribe):
            send(
                .subAck(
                    SubAck(packetID: subscribe.packetID, reasonCodes: subscribe.subscriptions.map { _ in .success })))
        case .connAck, .subAck, .unsubscribe, .unsubAck, .pingResp, .auth: throw Broken("a \(packet.type)")
        }
        pump(send)
    }

    private mutating func received(_ connect: Connect, _ send: (Packet) -> Void) {
        let isPresent = hasSession && !connect.isCleanStart
        isConnected = true
        hasSession = true
        clientReceiveMaximum = Int(connect.properties.receiveMaximum ?? .max)
        if !isPresent {
            (held, left) = ([], [])
            waiting = order.compactMap { outgoing[$0]?.serial } + waiting
            outgoing = [:]
            order = []
        }
        var properties: PacketProperties = []
        if version >= .v5 {
            properties = [.receiveMaximum(UInt16(receiveMaximum)), .topicAliasMaximum(2)]
        }
        send(.connAck(ConnAck(isSessionPresent: isPresent, properties: properties)))
        for id in order {
            guard let entry = outgoing[id] else { continue }
            outgoing[id]?.isSent = true
            if entry.isReleased {
                send(.pubRel(Acknowledgement(packetID: id)))
            } else {
                sendPublish(id, isDuplicate: true, send)
            }
        }
    }

    private mutating func received(_ publish: Publish, _ send: (Packet) -> Void) throws(Broken) {
        var topic = publish.topic
        if let alias = publish.properties.topicAlias {
            if topic.isEmpty {
                guard let known = aliases[alias] else { throw Broken("alias \(alias) without a topic") }
                topic = known
            } else {
                aliases[alias] = topic
            }
        }
        let serial = Payload.serial(publish.payload)
        guard topic == Payload.topic(serial) else { throw Broken("message \(serial) on topic \(topic)") }
        switch publish.delivery {
        case .atMostOnce: delivered.append(serial)
        case .atLeastOnce(let id, _):
            guard !held.contains(id) || left.contains(id) else {
                throw Broken("id \(id) is used for a message while in flight")
            }
            delivered.append(serial)
            send(.pubAck(Acknowledgement(packetID: id)))
        case .exactlyOnce(let id, let isDuplicate):
            if held.contains(id), !isDuplicate { throw Broken("id \(id) is used for a new message while in flight") }
            if held.insert(id).inserted || deliversTwice { delivered.append(serial) }
            counted.insert(id)
            guard version < .v5 || counted.count <= receiveMaximum else { throw Broken("receive maximum exceeded") }
            send(.pubRec(Acknowledgement(packetID: id)))
        }
    }

    private mutating func finish(_ id: PacketID) {
        outgoing[id] = nil
        order.removeAll { $0 == id }
    }
}

/// The payload of a message: its serial number. Topic and QoS are computed from the number.
enum Payload {
    static func bytes(_ serial: Int) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: serial >> ($0 * 8)) } }
    static func serial(_ bytes: [UInt8]) -> Int {
        bytes.enumerated().reduce(0) { $0 | Int($1.element) << ($1.offset * 8) }
    }
    static func topic(_ serial: Int) -> String { "topic/\(serial % 3)" }
    static func qos(_ serial: Int) -> PacketQoS { PacketQoS(rawValue: UInt8((serial / 3) % 3)) ?? .atMostOnce }
}

/// A message that is larger than the client's limit. Its topic contains its serial number.
enum LargeMessage {
    /// The client's limit in walks with large messages.
    static let packetSizeLimit = 60
    static let payload = [UInt8](repeating: 0x3F, count: 100)

    private static let prefix = "large/"

    static func topic(_ serial: Int) -> String { prefix + "\(serial)" }
    static func serial(_ topic: [UInt8]) -> Int? { Int(String(decoding: topic, as: UTF8.self).dropFirst(prefix.count)) }
}
