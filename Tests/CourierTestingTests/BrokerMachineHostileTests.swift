import CourierTesting
import MQTTCodec
import Testing

/// A hostile client: it sends legal packets in random order, with few packet ids and names, so that they collide.
private struct HostileClient {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    private static let topics = ["a", "a/b", "a/b/c", "$SYS/a", "/", "b//c"]
    private static let filters = [
        "#", "+", "a/#", "+/b", "a/b/c", "$SYS/#", "$share/g/a/+", "$share/h/#", "/", "b/+/c",
    ]

    mutating func next(_ limit: Int) -> Int {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int(state >> 33) % limit
    }
    mutating func pick<Element>(_ elements: [Element]) -> Element { elements[next(elements.count)] }
    private mutating func id() -> PacketID { PacketID(rawValue: UInt16(next(6) + 1)) ?? 1 }
    private mutating func acknowledgement(_ codes: [PacketReasonCode], _ version: ProtocolVersion) -> Acknowledgement {
        Acknowledgement(packetID: id(), reasonCode: version >= .v5 ? pick(codes) : .success)
    }

    mutating func connect(_ version: ProtocolVersion) -> Packet {
        var connect = Connect(
            version: version, clientID: pick(["x", "y", "z"]), isCleanStart: next(3) == 0, keepAlive: UInt16(next(4)))
        if version >= .v5 {
            connect.properties = [
                .sessionExpiryInterval(pick([0, 3, .max])), .receiveMaximum(UInt16(next(4) + 1)),
                .topicAliasMaximum(UInt16(next(3))), .maximumPacketSize(pick([8, 20, 40, 1_000])),
            ]
        }
        if next(2) == 0 {
            connect.will = Connect.Will(
                topic: pick(Self.topics), payload: [1], qos: pick(PacketQoS.allCases), isRetained: next(2) == 0,
                properties: version >= .v5 ? [.willDelayInterval(UInt32(next(4)))] : [])
        }
        return .connect(connect)
    }

    mutating func packet(_ version: ProtocolVersion) -> Packet {
        switch next(16) {
        case 0..<5: return .publish(publish(version))
        case 5, 6: return .subscribe(subscribe(version))
        case 7: return .unsubscribe(Unsubscribe(packetID: id(), filters: [pick(Self.filters)]))
        case 8, 9: return .pubAck(acknowledgement([.success, .success, .quotaExceeded], version))
        case 10, 11: return .pubRec(acknowledgement([.success, .success, .quotaExceeded], version))
        case 12: return .pubRel(acknowledgement([.success, .packetIdentifierNotFound], version))
        case 13: return .pubComp(acknowledgement([.success, .packetIdentifierNotFound], version))
        case 14: return .pingReq
        default:
            guard version >= .v5 else { return next(8) == 0 ? connect(version) : .disconnect(Disconnect()) }
            let properties: PacketProperties = next(2) == 0 ? [.sessionExpiryInterval(UInt32(next(5)))] : []
            return .disconnect(
                Disconnect(reasonCode: pick([.success, .disconnectWithWillMessage]), properties: properties))
        }
    }

    private mutating func publish(_ version: ProtocolVersion) -> Publish {
        let qos = pick(PacketQoS.allCases)
        let delivery = Delivery(qos: qos, packetID: id(), isDuplicate: qos > .atMostOnce && next(3) == 0) ?? .atMostOnce
        var publish = Publish(
            topic: pick(Self.topics), payload: Array(repeating: 1, count: next(30)), delivery: delivery,
            isRetained: next(3) == 0)
        guard version >= .v5 else { return publish }
        if next(2) == 0 { publish.properties.append(.messageExpiryInterval(UInt32(next(5)))) }
        if next(3) == 0 {
            publish.properties.append(.topicAlias(UInt16(next(4) + 1)))
            if next(2) == 0 { publish.topic = "" }
        }
        return publish
    }

    private mutating func subscribe(_ version: ProtocolVersion) -> Subscribe {
        let subscriptions = (0...next(3)).map { _ in
            let filter = pick(Self.filters)
            return version >= .v5
                ? Subscription(
                    filter, qos: pick(PacketQoS.allCases), isNoLocal: !filter.hasPrefix("$share") && next(2) == 0,
                    isRetainAsPublished: next(2) == 0, retainHandling: pick(Subscription.RetainHandling.allCases))
                : Subscription(filter, qos: pick(PacketQoS.allCases))
        }
        let properties: PacketProperties =
            version >= .v5 && next(2) == 0 ? [.subscriptionIdentifier(UInt32(next(3) + 1))] : []
        return Subscribe(packetID: id(), subscriptions: subscriptions, properties: properties)
    }
}

@Suite struct `Broker, clients without manners` {
    /// `BrokerScript` checks that each packet can be encoded and that no packet follows a close.
    @Test(arguments: 0..<80 as Range<UInt64>)
    func `the broker answers random client packets legally and within its limits`(seed: UInt64) throws {
        var client = HostileClient(seed: seed)
        var broker = BrokerScript {
            $0.receiveMaximum = 2
            $0.maximumInFlight = 3
            $0.maximumQueuedMessages = 4
            $0.maximumRetainedMessages = 3
            $0.maximumSubscriptionsPerSession = 5
            $0.maximumSessions = 2
            $0.maximumConnections = 3
            $0.topicAliasMaximum = 2
            $0.maximumOutgoingTopicAliases = 2
        }
        var versions: [ConnectionID: ProtocolVersion] = [:]
        var open: [ConnectionID] = []
        for step in 1...500 {
            var actions: [BrokerMachine.Action] = []
            switch client.next(20) {
            case 0..<3:
                let id = ConnectionID(rawValue: UInt64(step))
                open.append(id)
                versions[id] = client.pick(ProtocolVersion.allCases)
                actions = broker.open(id)
                if !actions.contains(.close(id, .tooManyConnections)), client.next(10) > 0 {
                    actions += broker.receive(client.connect(versions[id] ?? .v5), from: id)
                }
            case 3: actions = broker.advance(.milliseconds(client.next(3_000)))
            case 4:
                guard !open.isEmpty else { continue }
                let id = client.pick(open)
                open.removeAll { $0 == id }
                actions = broker.lose(id)
            default:
                guard !open.isEmpty else { continue }
                let id = client.pick(open)
                actions = broker.receive(client.packet(versions[id] ?? .v5), from: id)
            }
            for case .close(let id, _) in actions { open.removeAll { $0 == id } }
            try check(broker.machine, open: open)
        }
        for id in open { broker.lose(id) }
        broker.connect(1_000, "x")
        broker.connect(1_001, "y")
        broker.connect(1_002, "z")
    }

    private func check(_ machine: BrokerMachine, open: [ConnectionID]) throws {
        let states = machine.clientIDs.compactMap { machine.sessionState(of: $0) }
        let areBounded = states.allSatisfy { state in
            state.queuedCount <= 4 && state.onWireCount <= 3 && state.filters.count <= 5 && state.incomingIDs.count <= 6
                && state.connection.map { open.contains($0) } ?? true
        }
        // The longest filter has four levels, and a node without subscriptions is removed.
        let nodes = states.reduce(0) { $0 + $1.filters.count * 4 }
        let isBounded =
            machine.connectionCount == open.count && states.count <= 2 && machine.sessionCount == states.count
            && machine.retainedMessageCount <= 3 && machine.subscriptionNodeCount <= nodes
        if !areBounded || !isBounded { try #require(Bool(false), "over a limit: \(states)") }
    }
}
