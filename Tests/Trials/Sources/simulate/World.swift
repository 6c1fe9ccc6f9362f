import MQTTCodec
import MQTTEngine
import TrialSupport

/// One walk: an engine and a server model with a channel between them that fails in every way it can.
///
/// After each step the invariants are checked that hold at all times; at the end the channel is left in peace, and then
/// everything that was promised must have happened.
struct World: ~Copyable {
    /// What became of a message that the client published.
    private enum Outcome { case open, acknowledged, failed }

    /// What the engine waits for when it has a store.
    private enum StoreStep {
        case outgoing(Token, PacketID)
        case release(PacketID)
    }

    private var random: SeededGenerator
    private let version: ProtocolVersion
    private let configuration: EngineConfiguration
    private var engine: ClientEngine
    private var server: ServerModel
    private var now = ContinuousClock.now

    private var isConnected = false
    private var clientOutput = PacketBuffer()
    private var toServer: [UInt8] = []
    private var toClient: [UInt8] = []
    private var clientUnread: [UInt8] = []
    private var actions = ActionList()
    /// What the store has not taken yet; it is slow, and takes the oldest first.
    private var storing: [StoreStep] = []
    /// The packet ids of messages that were given one.
    private var packetIDs: [Token: PacketID] = [:]
    /// Messages above QoS 0 that the engine has written, whether or not they arrived.
    private var written: Set<Int> = []

    private var outcomes: [Outcome] = []
    /// How many sessions had been lost when a message was published, for those that are exactly once.
    private var lossesBefore: [Int] = []
    private var handles: [IncomingMessage.Handle] = []
    private var serverSerial = 0
    /// Messages of the server as the client got them.
    private var received: [Int] = []
    private(set) var steps = 0
    /// How many more times the connection may be lost before the server has answered in a session that an earlier process
    /// began: the engine asks on so many connections what that left there. Without limit in other sessions.
    private var cutsLeft = Int.max

    init(seed: UInt64, plantsMistake: Bool) {
        random = SeededGenerator(seed: seed)
        version = random.pick([.v311, .v5])
        var configuration = EngineConfiguration(
            connect: Connect(version: version, clientID: "c", isCleanStart: false, keepAlive: 30))
        configuration.fallsBackToVersion311 = false
        configuration.maximumInFlight = 1 + random.below(6)
        configuration.receiveMaximum = UInt16(1 + random.below(6))
        configuration.outgoingTopicAliases = UInt16(random.below(4))
        configuration.acknowledgements = random.pick([.automatic, .onCommand])
        configuration.sessionLossPolicy = random.pick([.resend, .fail, .drop])
        configuration.awaitsStorage = random.chance(40)
        self.configuration = configuration
        engine = ClientEngine(configuration)
        server = ServerModel(
            version: version, receiveMaximum: 1 + random.below(6), deliversTwice: plantsMistake)
        if random.chance(30) {
            var left: Set<PacketID> = []
            for number in 1...8 as ClosedRange<UInt16> where random.flag() {
                if let id = PacketID(rawValue: number) { left.insert(id) }
            }
            server.beginSession(holding: left)
            cutsLeft = 3
        }
    }

    mutating func walk() throws(Broken) {
        let length = 20 + random.below(120)
        for _ in 0..<length {
            try step()
            try checkBooks()
        }
        try settle()
        try checkPromises()
    }

    private mutating func step() throws(Broken) {
        steps += 1
        switch random.below(110) {
        case 0..<20: publish()
        case 20..<30: publishFromServer()
        case 30..<55: try carryToServer(atMost: 1 + random.below(60))
        case 55..<80: try carryToClient(atMost: 1 + random.below(60))
        case 80..<86: acknowledgeOne()
        case 86..<90 where cutsLeft > 0: try cut()
        case 90..<96: open()
        case 96..<98 where cutsLeft > 0: try restartServer(keepingSession: random.chance(70))
        case 98..<100 where cutsLeft > 0: passTime()
        case 100...: store(atMost: 1 + random.below(3))
        default: break
        }
        try perform()
    }

    // What happens.

    private mutating func publish() {
        let serial = outcomes.count
        let qos = Payload.qos(serial)
        outcomes.append(qos == .atMostOnce ? .acknowledged : .open)
        lossesBefore.append(server.sessionsLost)
        engine.publish(
            OutgoingMessage(
                topic: Payload.topic(serial), payload: Payload.bytes(serial), qos: qos,
                token: Token(rawValue: UInt64(serial))), now: now, into: &clientOutput, &actions)
    }

    private mutating func publishFromServer() {
        server.publish(serverSerial)
        serverSerial += 1
        let version = version
        server.pump { toClient += Self.encoded($0, version, .server) }
    }

    private mutating func open() {
        guard !isConnected else { return }
        isConnected = true
        engine.transportOpened(now: now, into: &clientOutput, &actions)
    }

    /// Both ends lose the connection, with all that is on its way.
    private mutating func cut() throws(Broken) {
        guard isConnected else { return }
        isConnected = false
        cutsLeft -= 1
        try loseOutput()
        toClient = []
        clientUnread = []
        server.disconnected()
        server.receiveMaximum = 1 + random.below(6)
        engine.transportClosed(now: now, &actions)
    }

    /// A server that lost the session says so in its next CONNACK, and only there: if that one were cut off, neither
    /// MQTT nor we could know. So it arrives.
    private mutating func restartServer(keepingSession: Bool) throws(Broken) {
        try cut()
        server.restarted(keepingSession: keepingSession)
        guard !keepingSession else { return }
        try perform()
        open()
        try carryToServer(atMost: .max)
        try carryToClient(atMost: .max)
    }

    private mutating func passTime() {
        now = now.advanced(by: .milliseconds(random.below(9_000)))
        if let deadline = engine.deadline, deadline <= now {
            engine.timerFired(now: now, into: &clientOutput, &actions)
        }
    }

    private mutating func acknowledgeOne() {
        guard !handles.isEmpty else { return }
        let handle = handles.remove(at: random.below(handles.count))
        engine.acknowledge(handle, now: now, into: &clientOutput, &actions)
    }

    private mutating func store(atMost limit: Int) {
        for step in storing.prefix(limit) {
            switch step {
            case .outgoing(let token, let id): engine.stored(token, id, now: now, into: &clientOutput, &actions)
            case .release(let id): engine.storedRelease(id, now: now, into: &clientOutput)
            }
        }
        storing.removeFirst(min(limit, storing.count))
    }

    private mutating func carryToServer(atMost limit: Int) throws(Broken) {
        takeOutput()
        // The server reads whole packets: a split read is the client's test, and the decoder's.
        var budget = limit
        let decoder = PacketDecoder(version: version, sender: .client)
        while budget > 0 {
            guard let packet = try Self.next(&toServer, decoder, &budget) else { return }
            try checkMark(packet)
            let version = version
            try server.received(packet) { toClient += Self.encoded($0, version, .server) }
        }
    }

    private mutating func takeOutput() {
        clientOutput.withBytes { toServer += $0.withUnsafeBytes { Array($0) } }
        clientOutput.removeAll()
    }

    /// What is on its way to the server does not arrive; it was written all the same.
    private mutating func loseOutput() throws(Broken) {
        takeOutput()
        let decoder = PacketDecoder(version: version, sender: .client)
        var budget = Int.max
        while let packet = try Self.next(&toServer, decoder, &budget) { try checkMark(packet) }
        toServer = []
    }

    private mutating func carryToClient(atMost limit: Int) throws(Broken) {
        guard isConnected else { return }
        let piece = toClient.prefix(limit)
        toClient.removeFirst(piece.count)
        clientUnread += piece
        var consumed = 0
        repeat {
            let bytes = clientUnread
            consumed = engine.received(bytes.span.bytes, now: now, into: &clientOutput, &actions)
            try perform()
            clientUnread.removeFirst(min(consumed, clientUnread.count))
        } while consumed > 0 && !clientUnread.isEmpty
    }

    /// Looks at what the engine wants, while the bytes that messages point into are still there.
    private mutating func perform() throws(Broken) {
        var closed = false
        for action in actions {
            switch action {
            case .message(let message):
                received.append(Payload.serial(Array(clientUnread[message.view.payload])))
                if let handle = message.handle { handles.append(handle) }
            case .acknowledged(let token, _, _): try finish(token, .acknowledged)
            case .failed(let token, let failure):
                if Payload.qos(Int(token.rawValue)) != .atMostOnce {
                    guard [.sessionLost, .dropped].contains(failure) else {
                        throw Broken("\(token) failed: \(failure)")
                    }
                    try finish(token, .failed)
                }
            case .close(let reason):
                switch reason {
                case .transportClosed, .pingTimeout, .connectTimeout, .acknowledgementTimeout: closed = true
                default: throw Broken("the engine closed: \(reason)")
                }
            case .connected(let connAck):
                if !connAck.isSessionPresent { storing = [] }  // The engine begins anew, and tells it.
            case .sent(let token, let id):
                packetIDs[token] = id
                awaitStorage(of: token)
            case .receivedByServer(let token): awaitStorage(of: token)
            case .givenUp(let token, _): throw Broken("\(token) was given up")
            case .incomingReleased(let id): if configuration.awaitsStorage { storing.append(.release(id)) }
            case .incomingReplaced, .qosDowngraded, .subscribed, .unsubscribed, .authenticationContinued,
                .authenticated, .pingSent, .pongReceived:
                break
            }
        }
        actions.removeAll()
        if closed { try cut() }
    }

    private mutating func awaitStorage(of token: Token) {
        guard configuration.awaitsStorage, Payload.qos(Int(token.rawValue)) == .exactlyOnce,
            let id = packetIDs[token]
        else { return }
        storing.append(.outgoing(token, id))
    }

    private mutating func finish(_ token: Token, _ outcome: Outcome) throws(Broken) {
        let serial = Int(token.rawValue)
        guard outcomes[serial] == .open else { throw Broken("message \(serial) ended twice") }
        if outcome == .acknowledged, Payload.qos(serial) == .exactlyOnce { cutsLeft = .max }
        outcomes[serial] = outcome
    }

    // What must hold.

    /// At all times: the engine knows of just those messages whose end has not been reported.
    private func checkBooks() throws(Broken) {
        let open = outcomes.count { $0 == .open }
        guard open == engine.inFlightCount + engine.queuedCount else {
            throw Broken("\(open) open, \(engine.inFlightCount) in flight, \(engine.queuedCount) queued")
        }
        guard version < .v5 || engine.unacknowledgedCount <= Int(configuration.receiveMaximum) else {
            throw Broken("more unacknowledged than our receive maximum")
        }
    }

    /// A message is marked as a repetition when it is one, and not the first time ([MQTT-3.3.1-1]).
    private mutating func checkMark(_ packet: Packet) throws(Broken) {
        guard case .publish(let publish) = packet, publish.delivery.qos != .atMostOnce else { return }
        let serial = Payload.serial(publish.payload)
        if written.insert(serial).inserted, publish.delivery.isDuplicate {
            throw Broken("message \(serial) is marked as a repetition the first time")
        }
    }

    /// No more faults: everything gets its turn.
    private mutating func settle() throws(Broken) {
        for _ in 0..<10_000 {
            open()
            try perform()
            try carryToServer(atMost: .max)
            try carryToClient(atMost: .max)
            try perform()
            while !handles.isEmpty { acknowledgeOne() }
            store(atMost: .max)
            try perform()
            try checkBooks()
            var isQuiet = toServer.isEmpty && toClient.isEmpty && clientOutput.isEmpty && storing.isEmpty
            isQuiet = isQuiet && engine.inFlightCount == 0 && engine.queuedCount == 0 && server.isIdle
            if isQuiet, engine.isConnected { return }
        }
        throw Broken("no end: \(engine.inFlightCount) in flight, \(engine.queuedCount) queued")
    }

    private func checkPromises() throws(Broken) {
        if let open = outcomes.firstIndex(of: .open) { throw Broken("message \(open) has no end") }
        var counts = [Int](repeating: 0, count: outcomes.count)
        for serial in server.delivered { counts[serial] += 1 }
        for serial in outcomes.indices {
            let count = counts[serial]
            switch Payload.qos(serial) {
            case .atMostOnce: if count > 1 { throw Broken("QoS 0 message \(serial) came \(count) times") }
            case .atLeastOnce:
                if outcomes[serial] == .acknowledged, count == 0 { throw Broken("QoS 1 message \(serial) is lost") }
            case .exactlyOnce:
                if outcomes[serial] == .acknowledged, count == 0 { throw Broken("QoS 2 message \(serial) is lost") }
                // A lost session takes the memory of what was delivered with it.
                let allowed = 1 + server.sessionsLost - lossesBefore[serial]
                if count > allowed { throw Broken("QoS 2 message \(serial) came \(count) times, \(allowed) allowed") }
            }
        }
        try checkOrder(server.delivered, "to the server") { Payload.topic($0) + "\(Payload.qos($0))" }
        try checkOrder(received, "to the client") { "\($0 % 3)" }
        try checkReceived()
    }

    /// First arrivals of one topic and QoS come in the order in which they were published ([MQTT-4.6.0-5]).
    private func checkOrder(_ arrivals: [Int], _ direction: String, _ line: (Int) -> String) throws(Broken) {
        var seen: Set<Int> = []
        var last: [String: Int] = [:]
        for serial in arrivals where seen.insert(serial).inserted {
            if let before = last[line(serial)], before > serial {
                throw Broken("\(direction): message \(serial) after \(before)")
            }
            last[line(serial)] = serial
        }
    }

    private func checkReceived() throws(Broken) {
        var counts = [Int](repeating: 0, count: serverSerial)
        for serial in received { counts[serial] += 1 }
        for serial in 0..<serverSerial {
            switch serial % 3 {
            case 0: if counts[serial] > 1 { throw Broken("QoS 0 message \(serial) arrived \(counts[serial]) times") }
            case 1: if counts[serial] == 0 { throw Broken("QoS 1 message \(serial) did not arrive") }
            default:
                if counts[serial] == 0 { throw Broken("QoS 2 message \(serial) did not arrive") }
                if counts[serial] > 1 + server.sessionsLost {
                    throw Broken("QoS 2 message \(serial) arrived \(counts[serial]) times")
                }
            }
        }
    }

    // Bytes.

    private static func encoded(_ packet: Packet, _ version: ProtocolVersion, _ sender: Endpoint) -> [UInt8] {
        var buffer = PacketBuffer()
        do {
            try PacketEncoder(version: version, sender: sender).encode(packet, into: &buffer)
        } catch {
            fatalError("the model wrote a wrong packet: \(error)")
        }
        return buffer.withBytes { $0.withUnsafeBytes { Array($0) } }
    }

    private static func next(
        _ bytes: inout [UInt8], _ decoder: PacketDecoder, _ budget: inout Int
    ) throws(Broken) -> Packet? {
        do throws(DecodeError) {
            guard case .frame(let frame) = try decoder.nextFrame(in: bytes.span.bytes) else { return nil }
            let packet = try decoder.packet(frame, in: bytes.span.bytes)
            bytes.removeFirst(frame.byteCount)
            budget -= frame.byteCount
            return packet
        } catch {
            throw Broken("the engine wrote a wrong packet: \(error)")
        }
    }
}
