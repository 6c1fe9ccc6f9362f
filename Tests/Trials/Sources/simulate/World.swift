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
    /// Messages above QoS 0 that the engine has written since it was given them, whether or not they arrived.
    private var written: Set<Int> = []
    /// Messages above QoS 0 that the engine does not have.
    private var waiting = WaitingList()
    /// QoS 2 messages that must not be published again, because PUBREC came.
    private var receivedByServer: Set<Int> = []

    private var outcomes: [Outcome] = []
    /// How many sessions had been lost when a message was published, for those that are exactly once.
    private var lossesBefore: [Int] = []
    private var handles: [IncomingMessage.Handle] = []
    private var serverSerial = 0
    /// Messages of the server as the client got them.
    private var received: [Int] = []
    private(set) var steps = 0
    /// The limit that the engine was given of messages without an answer.
    private var sendLimit: Int?
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
        configuration.maximumInFlightBeforeVersion5 = random.pick([1_000, 1 + random.below(6)])
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
        switch random.below(114) {
        case 0..<18: publish()
        case 18..<20: try publishTooMuch()
        case 20..<30: publishFromServer()
        case 30..<55: try carryToServer(atMost: 1 + random.below(60))
        case 55..<80: try carryToClient(atMost: 1 + random.below(60))
        case 80..<86: acknowledgeOne()
        case 86..<90 where cutsLeft > 0: try cut()
        case 90..<96: open()
        case 96..<98 where cutsLeft > 0: try restartServer(keepingSession: random.chance(70))
        case 98..<100 where cutsLeft > 0: passTime()
        case 100..<110: store(atMost: 1 + random.below(3))
        case 110...: changeSendLimit(isConnected ? nil : random.pick([nil, 0, 1, 1 + random.below(4)]))
        default: break
        }
        try perform()
    }

    // What happens.

    private mutating func publish() {
        let serial = outcomes.count
        let isAcknowledged = Payload.qos(serial) != .atMostOnce
        outcomes.append(isAcknowledged ? .open : .acknowledged)
        lossesBefore.append(server.sessionsLost)
        if isAcknowledged { waiting.append(serial) } else { publish(serial) }
    }

    private mutating func publish(_ serial: Int) {
        engine.publish(
            OutgoingMessage(
                topic: Payload.topic(serial), payload: Payload.bytes(serial), qos: Payload.qos(serial),
                token: Token(rawValue: UInt64(serial))), now: now, into: &clientOutput, &actions)
    }

    /// Hands the engine the messages that it takes, which must then not fail for want of room.
    private mutating func publishWaiting() {
        while engine.publishCapacity > 0, !waiting.isEmpty { publish(waiting.removeFirst()) }
    }

    /// Hands the engine a message that it does not take: it must say so, and change nothing.
    private mutating func publishTooMuch() throws(Broken) {
        guard engine.publishCapacity == 0, let serial = waiting.first else { return }
        let before = (count: engine.inFlightCount, bytes: engine.keptByteCount, output: clientOutput.count)
        publish(serial)
        let failure: EngineAction.Failure = engine.isConnected ? .quotaExceeded : .notConnected
        guard Array(actions) == [.failed(Token(rawValue: UInt64(serial)), failure)] else {
            throw Broken("message \(serial) without room led to \(Array(actions))")
        }
        guard before == (engine.inFlightCount, engine.keptByteCount, clientOutput.count) else {
            throw Broken("message \(serial) was refused and left something")
        }
        actions.removeAll()
    }

    private mutating func publishFromServer() {
        server.publish(serverSerial)
        serverSerial += 1
        let version = version
        server.pump { toClient += Wire.encoded($0, version, .server) }
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

    /// A limit that is lowered during a connection takes nothing back, so it is lowered only before one.
    private mutating func changeSendLimit(_ limit: Int?) {
        sendLimit = limit
        engine.setSendLimit(sendLimit, now: now, into: &clientOutput, &actions)
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
            guard let packet = try Wire.next(&toServer, decoder, &budget) else { return }
            try checkMark(packet)
            let version = version
            try server.received(packet) { toClient += Wire.encoded($0, version, .server) }
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
        while let packet = try Wire.next(&toServer, decoder, &budget) { try checkMark(packet) }
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
        var returned: [Int] = []
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
            case .receivedByServer(let token):
                receivedByServer.insert(Int(token.rawValue))
                awaitStorage(of: token)
            case .returned(let token): returned.append(try takeBack(Int(token.rawValue)))
            case .givenUp(let token, _): throw Broken("\(token) was given up")
            case .incomingReleased(let id): if configuration.awaitsStorage { storing.append(.release(id)) }
            case .incomingReplaced, .qosDowngraded, .subscribed, .unsubscribed, .authenticationContinued,
                .authenticated, .pingSent, .pongReceived:
                break
            }
        }
        actions.removeAll()
        if !returned.isEmpty { try waiting.putBack(returned) }
        publishWaiting()
        if !actions.isEmpty { try perform() }
        if closed { try cut() }
    }

    /// A message may be published again, as a new one, unless the server has it (PUBREC).
    private mutating func takeBack(_ serial: Int) throws(Broken) -> Int {
        guard configuration.sessionLossPolicy == .resend, outcomes[serial] == .open, Payload.qos(serial) != .atMostOnce,
            !receivedByServer.contains(serial)
        else { throw Broken("message \(serial) was returned and must not be published again") }
        written.remove(serial)
        return serial
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

    /// At all times: the engine knows of just those messages whose end has not been reported and that do not wait, and
    /// takes no more than the configuration allows.
    private func checkBooks() throws(Broken) {
        let open = outcomes.count { $0 == .open }
        guard open == engine.inFlightCount + waiting.count else {
            throw Broken("\(open) open, \(engine.inFlightCount) in flight, \(waiting.count) waiting")
        }
        let room = engine.publishCapacity
        let limit =
            version >= .v5 ? configuration.maximumInFlight : configuration.maximumInFlightBeforeVersion5
        guard (0...limit).contains(room), room == 0 || engine.isConnected else {
            throw Broken("room for \(room) messages, connected: \(engine.isConnected)")
        }
        let unanswered = engine.isConnected ? engine.unacknowledgedPublishes.count : 0
        if unanswered + room > sendLimit ?? .max { throw Broken("\(unanswered) unanswered and room for \(room)") }
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
        changeSendLimit(nil)
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
            isQuiet = isQuiet && engine.inFlightCount == 0 && waiting.isEmpty && server.isIdle
            if isQuiet, engine.isConnected { return }
        }
        throw Broken("no end: \(engine.inFlightCount) in flight, \(waiting.count) waiting")
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
        try Arrivals.check(server.delivered, "to the server") { Payload.topic($0) + "\(Payload.qos($0))" }
        try Arrivals.check(received, "to the client") { "\($0 % 3)" }
        try Arrivals.check(received, of: serverSerial, sessionsLost: server.sessionsLost)
    }
}
