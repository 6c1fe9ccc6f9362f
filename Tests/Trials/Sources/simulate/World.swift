import MQTTCodec
import MQTTEngine
import TrialSupport

/// One walk: an engine and a server model, connected by a channel that fails in every possible way.
///
/// After each step, the walk checks the invariants. At the end the channel has no more faults, and the walk checks that
/// all promises were kept.
struct World: ~Copyable {
    /// The state of a message that the client published.
    private enum Outcome { case open, acknowledged, failed }

    /// A write to the store that the engine waits for.
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
    /// The writes that the store has not finished. The store is slow and finishes the oldest write first.
    private var storing: [StoreStep] = []
    /// The packet ids of the messages that have one.
    private var packetIDs: [Token: PacketID] = [:]
    /// The QoS 1 and 2 messages that the engine has written since it received them, whether or not they arrived.
    private var written: Set<Int> = []
    /// The QoS 1 and 2 messages that are not in the engine.
    private var waiting = WaitingList()
    /// The QoS 2 messages that must not be published again, because PUBREC was received.
    private var receivedByServer: Set<Int> = []

    private var outcomes: [Outcome] = []
    /// For each published message, the number of sessions that were lost before it was published.
    private var lossesBefore: [Int] = []
    private var handles: [IncomingMessage.Handle] = []
    private var serverSerial = 0
    /// The server's messages, in the order in which the client received them.
    private var received: [Int] = []
    private(set) var steps = 0
    /// The current limit of unacknowledged messages that was set on the engine.
    private var sendLimit: Int?
    /// How many more times the connection may be lost before a QoS 2 message is acknowledged, in a session of an
    /// earlier process. On a few connections only, the engine tries to find out which packet ids that process left in
    /// use. There is no limit in other sessions.
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
        var hasLargeMessages = random.flag()
        if version >= .v5 { hasLargeMessages = false }  // A large message would end the connection.
        if hasLargeMessages { configuration.maximumPacketSize = LargeMessage.packetSizeLimit }
        self.configuration = configuration
        engine = ClientEngine(configuration)
        server = ServerModel(
            version: version, receiveMaximum: 1 + random.below(6), deliversTwice: plantsMistake,
            sendsLargeMessages: hasLargeMessages)
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

    // The steps of a walk. `step()` chooses them at random.

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

    /// Hands waiting messages to the engine while it has capacity. They must not fail because of missing capacity.
    private mutating func publishWaiting() {
        while engine.publishCapacity > 0, !waiting.isEmpty { publish(waiting.removeFirst()) }
    }

    /// Hands a message to the engine when it has no capacity. The engine must report a failure and change nothing.
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

    /// Ends the connection on both sides. Bytes in transit are lost.
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

    /// Restarts the server. If it loses the session, it reports that only in its next CONNACK. If that CONNACK were
    /// lost, the client could not know, so this method lets it arrive.
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

    /// Sets the limit of unacknowledged messages. A lower limit does not take back sent messages, so it is set only
    /// between connections.
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
        // The server reads whole packets. Split reads are tested in the client and in the decoder's tests.
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

    /// Drops the bytes in transit to the server. Their messages still count as written.
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

    /// Handles the engine's actions while the bytes that their messages refer to still exist.
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
                if !connAck.isSessionPresent { storing = [] }  // A new session has no earlier writes.
            case .sent(let token, let id):
                packetIDs[token] = id
                awaitStorage(of: token)
            case .receivedByServer(let token):
                receivedByServer.insert(Int(token.rawValue))
                awaitStorage(of: token)
            case .returned(let token): returned.append(try takeBack(Int(token.rawValue)))
            case .givenUp(let token, _): throw Broken("\(token) was given up")
            case .incomingReleased(let id): if configuration.awaitsStorage { storing.append(.release(id)) }
            case .skipped(let message):
                guard let serial = LargeMessage.serial(message.topic),
                    message.payloadSize == LargeMessage.payload.count
                else { throw Broken("a message of \(message.packetSize) bytes was skipped") }
                received.append(serial)
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

    /// Returns a message to the waiting list after a lost session. This is wrong if the server has received it
    /// (PUBREC).
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

    // The checks of invariants and promises.

    /// Checks two invariants. The engine holds exactly the messages that have not ended and do not wait. It accepts no
    /// more messages than the configuration allows.
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

    /// Checks that the first PUBLISH of a message is not marked as a duplicate ([MQTT-3.3.1-1]).
    private mutating func checkMark(_ packet: Packet) throws(Broken) {
        guard case .publish(let publish) = packet, publish.delivery.qos != .atMostOnce else { return }
        let serial = Payload.serial(publish.payload)
        if written.insert(serial).inserted, publish.delivery.isDuplicate {
            throw Broken("message \(serial) is marked as a repetition the first time")
        }
    }

    /// Runs without faults until all messages have ended.
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
                // When a session is lost, the server forgets which QoS 2 messages it has delivered.
                let allowed = 1 + server.sessionsLost - lossesBefore[serial]
                if count > allowed { throw Broken("QoS 2 message \(serial) came \(count) times, \(allowed) allowed") }
            }
        }
        try Arrivals.check(server.delivered, "to the server") { Payload.topic($0) + "\(Payload.qos($0))" }
        try Arrivals.check(received, "to the client") { "\($0 % 3)" }
        try Arrivals.check(received, of: serverSerial, sessionsLost: server.sessionsLost)
    }
}
