import MQTTCodec

/// A client of a probe. It connects, subscribes, publishes and acknowledges, one call at a time.
///
/// Only the thread that runs the probes uses a client.
final class ProbeClient {
    /// A message to publish.
    struct Message {
        var topic: String
        var payload: [UInt8]
        var qos: PacketQoS
        var isRetained = false
        var properties: PacketProperties = []
    }

    /// The maximum number of messages without acknowledgement, if the broker allows more.
    private static let window = 20

    let id: String
    let link: BrokerLink
    private(set) var connAck = ConnAck()
    /// The received messages. If the broker repeats a QoS 2 message before its PUBREL, the message is stored only once.
    private(set) var messages: [Publish] = []
    /// True if the client acknowledges each message as soon as it is received; true by default.
    var acknowledges = true
    /// True if the client answers PUBREC with PUBREL; true by default.
    var releases = true
    /// The number of messages for which a PUBREC was received.
    private(set) var pubRecCount = 0
    /// True if the broker sent a PUBLISH with a topic alias instead of its topic.
    private(set) var hasReceivedAlias = false

    private let context: ProbeContext
    private let limits: BrokerLink.Limits
    /// The size of the payloads of ``messages`` in bytes.
    private var byteCount = 0
    private var lastID: UInt16 = 0
    /// The packet ids of published messages for which the last acknowledgement has not been received.
    private var inFlight: Set<PacketID> = []
    private var unreleased: [PacketID] = []
    private var unacknowledged: [Publish] = []
    /// The packet ids of received QoS 2 messages for which PUBREL has not been received.
    private var openExchanges: Set<PacketID> = []
    private var topicsOfAliases: [UInt16: String] = [:]
    private var subAcks: [PacketID: SubAck] = [:]
    private var pingCount = 0

    /// Connects.
    ///
    /// - Throws: ``LinkFailure/refused(_:)`` if the broker refuses the connection.
    init(_ connect: Connect, _ context: ProbeContext) throws(LinkFailure) {
        id = connect.clientID
        self.context = context
        let plan = context.plan
        var limits = BrokerLink.Limits()
        limits.packetSize = max(limits.packetSize, plan.maximumPayload + (1 << 20))
        limits.packetCount = max(limits.packetCount, 4 * plan.messageCount)
        self.limits = limits
        link = BrokerLink.begin(
            connect.version, to: plan.address.endpoint, tls: plan.tls, proxy: plan.address.proxy,
            timeLimit: .seconds(plan.timeLimit), limits: limits, events: context.events)
        do throws(LinkFailure) {
            try link.waitUntilOpen()
            try link.send(.connect(connect))
            guard case .connAck(let connAck) = try link.next(until: context.deadline).packet else {
                throw .unreadable("the first packet is not CONNACK")
            }
            self.connAck = connAck
            if connAck.reasonCode.isFailure { throw .refused(connAck.reasonCode) }
        } catch {
            link.close()
            throw error
        }
    }

    // MARK: Publishing

    /// Publishes a message, and waits for the last acknowledgement.
    func publish(
        _ payload: String, to topic: String, _ qos: PacketQoS, isRetained: Bool = false,
        _ properties: PacketProperties = []
    ) throws(LinkFailure) {
        try publish([
            Message(
                topic: topic, payload: Array(payload.utf8), qos: qos, isRetained: isRetained, properties: properties)
        ])
    }

    /// Publishes messages, and waits for all acknowledgements.
    func publish(_ messages: [Message]) throws(LinkFailure) {
        let window = min(Self.window, Int(connAck.properties.receiveMaximum ?? .max))
        for message in messages {
            try receive { inFlight.count < window }
            try send(message)
        }
        try receive { inFlight.isEmpty }
    }

    /// Sends a PUBLISH without waiting.
    func send(_ message: Message) throws(LinkFailure) {
        let delivery: Delivery
        switch message.qos {
        case .atMostOnce: delivery = .atMostOnce
        case .atLeastOnce: delivery = .atLeastOnce(nextID(), isDuplicate: false)
        case .exactlyOnce: delivery = .exactlyOnce(nextID(), isDuplicate: false)
        }
        try link.send(
            .publish(
                Publish(
                    topic: message.topic, payload: message.payload, delivery: delivery,
                    isRetained: message.isRetained, properties: message.properties)))
        if let id = delivery.packetID { inFlight.insert(id) }
    }

    /// Sends all PUBREL packets that this client has withheld, and waits for the last acknowledgement.
    func release() throws(LinkFailure) {
        releases = true
        for id in unreleased { try link.send(.pubRel(Acknowledgement(packetID: id))) }
        unreleased = []
        try receive { inFlight.isEmpty }
    }

    // MARK: Subscribing

    /// Subscribes, and returns the granted QoS.
    ///
    /// - Throws: ``LinkFailure/subscriptionRefused(_:)`` if the broker refuses the subscription.
    @discardableResult
    func subscribe(_ filter: String, _ qos: PacketQoS, identifier: UInt32? = nil) throws(LinkFailure) -> PacketQoS {
        try subscribe([Subscription(filter, qos: qos)], identifier: identifier)
    }

    /// Subscribes with options, and returns the QoS that the broker grants to the first filter.
    @discardableResult
    func subscribe(_ subscriptions: [Subscription], identifier: UInt32? = nil) throws(LinkFailure) -> PacketQoS {
        let id = nextID()
        try link.send(
            .subscribe(
                Subscribe(
                    packetID: id, subscriptions: subscriptions,
                    properties: identifier.map { [.subscriptionIdentifier($0)] } ?? [])))
        try receive { subAcks[id] != nil }
        let codes = subAcks.removeValue(forKey: id)?.reasonCodes ?? []
        if let refusal = codes.first(where: \.isFailure) { throw .subscriptionRefused(refusal) }
        return codes.first.flatMap { PacketQoS(rawValue: $0.rawValue) } ?? .atMostOnce
    }

    // MARK: Receiving

    /// The payloads of the received messages as text.
    var payloads: [String] { messages.map { String(decoding: $0.payload, as: UTF8.self) } }

    /// Returns true if at least `count` messages with different payloads were received.
    static func haveReceived(_ count: Int, _ clients: [ProbeClient]) -> Bool {
        // The first comparison is fast, because it only counts messages. The second comparison decodes all payloads, so
        // it is made only when enough messages have arrived.
        clients.reduce(0) { $0 + $1.messages.count } >= count && Set(clients.flatMap(\.payloads)).count >= count
    }

    /// Forgets the received messages.
    func forgetMessages() {
        messages = []
        byteCount = 0
    }

    /// Sends a PINGREQ, and waits for the PINGRESP. The broker sends earlier packets first.
    func ping() throws(LinkFailure) {
        let count = pingCount
        try link.send(.pingReq)
        try receive { pingCount > count }
    }

    /// Sends all acknowledgements that this client has withheld.
    func acknowledge() throws(LinkFailure) {
        acknowledges = true
        let messages = unacknowledged
        unacknowledged = []
        for message in messages { try acknowledge(message) }
    }

    /// Receives packets until a condition is true.
    func receive(until isDone: () -> Bool) throws(LinkFailure) { try context.receive(by: [self], until: isDone) }

    /// Handles a received packet.
    func handle(_ packet: Packet) throws(LinkFailure) {
        switch packet {
        case .publish(let publish): try accept(publish)
        case .pubAck(let acknowledgement): try finish(acknowledgement)
        case .pubRec(let acknowledgement): try advance(acknowledgement)
        case .pubComp(let acknowledgement): try finish(acknowledgement)
        case .pubRel(let acknowledgement):
            openExchanges.remove(acknowledgement.packetID)
            try link.send(.pubComp(Acknowledgement(packetID: acknowledgement.packetID)))
        case .subAck(let subAck): subAcks[subAck.packetID] = subAck
        case .pingResp: pingCount += 1
        case .disconnect(let disconnect): throw .disconnected(disconnect.reasonCode)
        default: throw .unreadable("the packet \(packet.type) is not allowed here")
        }
    }

    private func accept(_ publish: Publish) throws(LinkFailure) {
        var publish = publish
        if let alias = publish.properties.topicAlias {
            hasReceivedAlias = true
            if publish.topic.isEmpty {
                guard let topic = topicsOfAliases[alias] else {
                    throw .unreadable("the topic alias \(alias) has no topic")
                }
                publish.topic = topic
            } else {
                topicsOfAliases[alias] = publish.topic
            }
        }
        let isRepeated = publish.delivery.qos == .exactlyOnce && !open(publish)
        if !isRepeated { try keep(publish) }
        if acknowledges { try acknowledge(publish) } else { unacknowledged.append(publish) }
    }

    /// Stores a received message, within the limits of the memory.
    private func keep(_ publish: Publish) throws(LinkFailure) {
        // The message is ignored, because some brokers send messages without a subscription, and the probes must not
        // count such messages.
        guard context.owns(publish.topic) else { return }
        byteCount += publish.payload.count
        guard messages.count < limits.packetCount, byteCount <= 2 * limits.packetSize else {
            throw .unreadable("the broker sends more messages than the command requests")
        }
        messages.append(publish)
    }

    /// Opens the exchange of a QoS 2 message. Returns false if it is already open.
    private func open(_ publish: Publish) -> Bool {
        publish.delivery.packetID.map { openExchanges.insert($0).inserted } ?? false
    }

    private func acknowledge(_ publish: Publish) throws(LinkFailure) {
        switch publish.delivery {
        case .atMostOnce: break
        case .atLeastOnce(let id, _): try link.send(.pubAck(Acknowledgement(packetID: id)))
        case .exactlyOnce(let id, _): try link.send(.pubRec(Acknowledgement(packetID: id)))
        }
    }

    private func advance(_ pubRec: Acknowledgement) throws(LinkFailure) {
        if pubRec.reasonCode.isFailure { return try finish(pubRec) }
        pubRecCount += 1
        if releases {
            try link.send(.pubRel(Acknowledgement(packetID: pubRec.packetID)))
        } else {
            unreleased.append(pubRec.packetID)
        }
    }

    private func finish(_ acknowledgement: Acknowledgement) throws(LinkFailure) {
        inFlight.remove(acknowledgement.packetID)
        if acknowledgement.reasonCode.isFailure { throw .messageRefused(acknowledgement.reasonCode) }
    }

    private func nextID() -> PacketID {
        lastID = lastID == .max ? 1 : lastID + 1
        return PacketID(rawValue: lastID) ?? 1
    }
}
