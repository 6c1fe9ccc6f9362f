import CourierTesting
import MQTTCodec
import TestSupport
import Testing

/// A broker, some clients, and the packets between them. A lost connection loses its packets.
private struct Walk {
    private struct Channel {
        let client: Int
        var toBroker: [Packet] = []
        var toClient: [Packet] = []
        /// True after the client closed the connection; the broker notices it later.
        var isCut = false
    }

    private var generator: SeededGenerator
    private var script: BrokerScript
    private var clients: [WalkClient]
    private var channels: [ConnectionID: Channel] = [:]
    private var lastConnection: UInt64 = 0
    private let queueLimit: Int
    /// All actions of the broker. Each run with the same seed must have the same actions.
    private(set) var trace: [BrokerMachine.Action] = []

    init(seed: UInt64, queueLimit: Int) {
        generator = SeededGenerator(seed: seed)
        self.queueLimit = queueLimit
        script = BrokerScript {
            $0.receiveMaximum = 4
            $0.maximumInFlight = 6
            $0.maximumQueuedMessages = queueLimit
            $0.queueOverflow = .dropOldest
        }
        clients = (0..<4).map { index in
            WalkClient(index: index, version: [.v5, .v311, .v31, .v5][index], receiveMaximum: [2, 9, 9, 5][index])
        }
    }

    mutating func run(steps: Int) throws {
        for client in clients.indices {
            connect(client)
            try settle()
        }
        for _ in 0..<steps { try step() }
        try settle()
    }

    /// Checks the clients and the broker after all packets were delivered.
    func check(isComplete: Bool) {
        for client in clients { check(client, isComplete: isComplete) }
        for id in script.machine.clientIDs {
            let state = script.machine.sessionState(of: id)
            #expect(state?.queuedCount == 0)
            #expect(state?.outgoingIDs == [])
            #expect(state?.incomingIDs == [])
        }
    }

    private func check(_ client: WalkClient, isComplete: Bool) {
        #expect(client.isIdle)
        var seen: Set<WalkMessage> = []
        var last: [WalkMessage: Int] = [:]
        for message in client.received {
            if seen.insert(message).inserted {
                // A QoS 1 message that overflowed the queue may be delivered later, when its publisher sends it again.
                if isComplete || message.qos == .exactlyOnce {
                    #expect(message.number > last[message.stream, default: 0], "\(message) is out of order")
                }
                last[message.stream] = message.number
            } else {
                #expect(message.qos == .atLeastOnce, "\(message) came twice")
            }
        }
        guard isComplete else { return }
        let expected = Set(clients.flatMap(\.published).filter { $0.qos > .atMostOnce })
        #expect(expected.subtracting(seen).isEmpty, "lost for client \(client.index)")
    }
}

extension Walk {
    private mutating func step() throws {
        let client = Int.random(in: clients.indices, using: &generator)
        switch Int.random(in: 0..<100, using: &generator) {
        case 0..<2: cut(client)
        case 2..<8: if clients[client].connection == nil { connect(client) }
        case 8..<10: connect(client)  // Before the broker knows that the old connection is gone.
        case 10..<14: noticeCut()
        case 14..<30:
            guard clients[client].mayPublish, let id = clients[client].connection else { break }
            let qos: PacketQoS = Bool.random(using: &generator) ? .exactlyOnce : .atLeastOnce
            let packet = clients[client].publish(Int.random(in: 0..<2, using: &generator), qos)
            channels[id]?.toBroker.append(packet)
        case 30..<50: acknowledge(client)
        case 50..<75: toBroker(client)
        default: try toClient(client)
        }
        try checkBounds()
    }

    /// Delivers packets until no packet and no cut connection is left.
    private mutating func settle() throws {
        var isMoving = true
        while isMoving {
            isMoving = false
            noticeCut()
            for client in clients.indices where clients[client].connection == nil {
                connect(client)
                isMoving = true
            }
            for client in clients.indices {
                acknowledge(client)
                guard let id = clients[client].connection, let channel = channels[id] else { continue }
                isMoving = isMoving || !clients[client].isIdle || !channel.toBroker.isEmpty || !channel.toClient.isEmpty
                for _ in channel.toBroker { toBroker(client) }
                for _ in channel.toClient { try toClient(client) }
            }
            isMoving = isMoving || channels.values.contains(where: \.isCut)
        }
    }

    private mutating func connect(_ client: Int) {
        if let old = clients[client].connection { channels[old]?.isCut = true }
        lastConnection += 1
        let id = ConnectionID(rawValue: lastConnection)
        channels[id] = Channel(client: client, toBroker: clients[client].connect(id))
        perform(script.open(id))
    }

    private mutating func cut(_ client: Int) {
        guard let id = clients[client].connection else { return }
        clients[client].disconnect()
        channels[id]?.isCut = true
    }

    /// The broker receives some packets of a lost connection, and then notices the loss.
    private mutating func noticeCut() {
        guard let id = channels.filter({ $0.value.isCut }).keys.min(), let channel = channels[id] else { return }
        let count = Int.random(in: 0...channel.toBroker.count, using: &generator)
        for packet in channel.toBroker.prefix(count) { perform(script.receive(packet, from: id)) }
        channels[id] = nil
        perform(script.lose(id))
    }

    private mutating func acknowledge(_ client: Int) {
        guard let packet = clients[client].acknowledge(), let id = clients[client].connection else { return }
        channels[id]?.toBroker.append(packet)
    }

    private mutating func toBroker(_ client: Int) {
        guard let id = clients[client].connection, channels[id]?.toBroker.isEmpty == false,
            let packet = channels[id]?.toBroker.removeFirst()
        else { return }
        perform(script.receive(packet, from: id))
    }

    private mutating func toClient(_ client: Int) throws {
        guard let id = clients[client].connection, channels[id]?.toClient.isEmpty == false,
            let packet = channels[id]?.toClient.removeFirst()
        else { return }
        for answer in try clients[client].receive(packet) { channels[id]?.toBroker.append(answer) }
    }

    private mutating func perform(_ actions: [BrokerMachine.Action]) {
        for action in actions {
            switch action {
            case .setVersion: break
            case .send(let packet, let id): channels[id]?.toClient.append(packet)
            case .close(let id, let reason):
                // A takeover is also legal if the broker reads an old connection's CONNECT after a newer one.
                if reason != .takenOver { Issue.record("closed: \(reason)") }
                guard let channel = channels.removeValue(forKey: id) else { break }
                if clients[channel.client].connection == id { clients[channel.client].disconnect() }
            }
        }
        trace += actions
    }

    private func checkBounds() throws {
        for client in clients {
            guard let state = script.machine.sessionState(of: "client-\(client.index)") else { continue }
            let window = client.version >= .v5 ? min(client.receiveMaximum, 6) : 6
            guard state.onWireCount <= window, state.queuedCount <= queueLimit, state.outgoingIDs.count <= 15 else {
                throw WalkClient.Violation(sentence: "client \(client.index) is over a limit: \(state)")
            }
        }
        guard script.machine.sessionCount <= clients.count else {
            throw WalkClient.Violation(sentence: "there are \(script.machine.sessionCount) sessions")
        }
    }
}

@Suite struct `Broker, seeded walks` {
    private func walk(_ seed: UInt64, steps: Int, queueLimit: Int) -> Walk? {
        var walk = Walk(seed: seed, queueLimit: queueLimit)
        do {
            try walk.run(steps: steps)
            return walk
        } catch let violation as WalkClient.Violation {
            Issue.record("seed \(seed): \(violation.sentence)")
        } catch {
            Issue.record("seed \(seed): \(error)")
        }
        return nil
    }

    @Test(arguments: 0..<100 as Range<UInt64>)
    func `random reconnects do not lose or reorder messages or duplicate QoS 2 messages`(seed: UInt64) {
        walk(seed, steps: 400, queueLimit: 10_000)?.check(isComplete: true)
    }

    @Test(arguments: 1_000..<1_050 as Range<UInt64>)
    func `a full message queue stays within its limit and does not reorder QoS 2 messages`(seed: UInt64) {
        walk(seed, steps: 400, queueLimit: 3)?.check(isComplete: false)
    }

    @Test func `two brokers with equal inputs return equal actions`() {
        let first = walk(7, steps: 500, queueLimit: 10)
        let second = walk(7, steps: 500, queueLimit: 10)
        #expect(first?.trace.isEmpty == false)
        #expect(first?.trace == second?.trace)
    }
}
