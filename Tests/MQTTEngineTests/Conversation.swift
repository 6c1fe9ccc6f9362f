import MQTTCodec
import MQTTEngine
import Testing

/// Simulates the server, the clock and the caller of one engine.
final class Conversation {
    private var engine: ClientEngine
    private let configuration: EngineConfiguration
    var now = ContinuousClock.now
    private var buffer = PacketBuffer()
    private var actions = ActionList()
    private(set) var isOpen = false
    /// The topics of all received messages, resolved right after the engine reported each message.
    private(set) var topics: [String] = []

    init(_ version: ProtocolVersion = .v5, _ change: (inout EngineConfiguration) -> Void = { _ in }) {
        var configuration = EngineConfiguration(
            connect: Connect(version: version, clientID: "c", isCleanStart: false, keepAlive: 60))
        change(&configuration)
        self.configuration = configuration
        engine = ClientEngine(configuration)
    }

    // Properties of the engine. The engine is noncopyable, so `#expect` cannot use it directly.
    var isConnected: Bool { engine.isConnected }
    var deadline: ContinuousClock.Instant? { engine.deadline }
    var inFlightCount: Int { engine.inFlightCount }
    var awaitsAnswers: Bool { engine.awaitsAnswers }
    var publishCapacity: Int { engine.publishCapacity }
    var unacknowledgedPublishes: UnacknowledgedPublishes { engine.unacknowledgedPublishes }
    var keptByteCount: Int { engine.keptByteCount }
    var unacknowledgedCount: Int { engine.unacknowledgedCount }
    var version: ProtocolVersion { engine.protocolVersion }

    /// The topic of `message`, which was received in `bytes`.
    func topic(of message: IncomingMessage, in bytes: [UInt8]) -> [UInt8] {
        engine.aliasedTopic(of: message) ?? Array(bytes[message.view.topic])
    }

    /// Returns and removes the packets that the engine wrote since the last call.
    func sent() throws -> [Packet] {
        let bytes = buffer.withBytes { $0.withUnsafeBytes { Array($0) } }
        buffer.removeAll()
        let decoder = PacketDecoder(version: engine.protocolVersion, sender: .client)
        var packets: [Packet] = []
        var offset = 0
        while case .frame(let frame) = try decoder.nextFrame(in: bytes.span.bytes, at: offset) {
            packets.append(try decoder.packet(frame, in: bytes.span.bytes))
            offset = frame.end
        }
        #expect(offset == bytes.count, "half a packet was written")
        return packets
    }

    /// Returns and removes the actions that the engine reported since the last call.
    func performed() -> [EngineAction] {
        defer { actions.removeAll() }
        return Array(actions)
    }

    func open() {
        isOpen = true
        engine.transportOpened(now: now, into: &buffer, &actions)
    }

    func close() {
        isOpen = false
        engine.transportClosed(now: now, &actions)
    }

    /// The engine receives `packets` in one read.
    func receive(_ packets: Packet...) throws {
        var incoming = PacketBuffer()
        let encoder = PacketEncoder(version: engine.protocolVersion, sender: .server)
        for packet in packets { try encoder.encode(packet, into: &incoming) }
        receive(incoming.withBytes { $0.withUnsafeBytes { Array($0) } })
    }

    /// The engine receives `bytes` in one read, and consumes them.
    func receive(_ bytes: [UInt8]) { #expect(receive(pieces: [bytes]).isEmpty) }

    /// The engine receives each of `pieces` in one read, behind the bytes that it has not consumed. Returns the bytes
    /// that it has not consumed at the end. `noteUnread` gets the number of these bytes after each read.
    @discardableResult
    func receive(pieces: some Sequence<[UInt8]>, noteUnread: (Int) -> Void = { _ in }) -> [UInt8] {
        var unread: [UInt8] = []
        for piece in pieces {
            unread += piece
            var consumed = 0
            while consumed < unread.count {
                let rest = unread.span.bytes.extracting(consumed..<unread.count)
                let known = actions.messages.count
                let taken = engine.received(rest, now: now, into: &buffer, &actions)
                guard taken > 0 else { break }
                for message in actions.messages[known...] {
                    topics.append(String(decoding: topic(of: message, in: Array(unread[consumed...])), as: UTF8.self))
                }
                consumed += taken
            }
            unread.removeFirst(consumed)
            noteUnread(unread.count)
        }
        return unread
    }

    func publish(_ topic: String = "t", qos: PacketQoS, token: Token, expiry: Duration? = nil, size: Int = 1) {
        let message = OutgoingMessage(
            topic: topic, payload: [UInt8](repeating: 1, count: size), qos: qos,
            expiry: expiry.map { now.advanced(by: $0) }, token: token)
        engine.publish(message, now: now, into: &buffer, &actions)
    }

    func publish(_ message: OutgoingMessage) { engine.publish(message, now: now, into: &buffer, &actions) }

    /// Publishes the messages at `places` in one call.
    func publish(_ places: [MessageMemory.Place], in memory: borrowing MessageMemory) {
        var views: [MessageView] = []
        for place in places { views.append(memory.view(place)) }
        views.withUnsafeBufferPointer { engine.publish($0, now: now, into: &buffer, &actions) }
    }

    func subscribe(_ filters: String..., token: Token) {
        engine.subscribe(
            filters.map { Subscription($0, qos: .atLeastOnce) }, token: token, now: now, into: &buffer, &actions)
    }

    func unsubscribe(_ filters: String..., token: Token) {
        engine.unsubscribe(filters, token: token, now: now, into: &buffer, &actions)
    }

    func acknowledge(_ handle: IncomingMessage.Handle?, _ code: PacketReasonCode = .success) -> Bool {
        guard let handle else { return false }
        return engine.acknowledge(handle, code, now: now, into: &buffer, &actions)
    }

    func restore(_ messages: [ClientEngine.UnfinishedMessage], incoming ids: [PacketID] = []) {
        engine.restore(messages, incoming: ids, &actions)
    }

    func stored(_ token: Token, _ id: PacketID) { engine.stored(token, id, now: now, into: &buffer, &actions) }

    func storedRelease(_ id: PacketID) { engine.storedRelease(id, now: now, into: &buffer) }

    func disconnect(_ disconnect: Disconnect = Disconnect()) {
        engine.disconnect(disconnect, now: now, into: &buffer, &actions)
    }

    func authenticate(_ auth: Auth) throws { try engine.authenticate(auth, now: now, into: &buffer) }

    /// Changes the configuration for the next connection, which may be to another server.
    func reconfigure(isSameServer: Bool, _ change: (inout EngineConfiguration) -> Void = { _ in }) {
        var configuration = configuration
        change(&configuration)
        engine.reconfigure(configuration, isSameServer: isSameServer, &actions)
    }

    func setSendLimit(_ limit: Int?) { engine.setSendLimit(limit, now: now, into: &buffer, &actions) }

    func giveUp(_ token: Token) -> Bool { engine.giveUp(token) }

    func pass(_ duration: Duration) { now = now.advanced(by: duration) }

    func trim() { engine.trim() }

    func fireTimer() { engine.timerFired(now: now, into: &buffer, &actions) }

    /// Opens a connection that the server accepts, and discards the sent packets and actions.
    func connect(isSessionPresent: Bool = false, properties: PacketProperties = []) throws {
        open()
        _ = try sent()
        try receive(.connAck(ConnAck(isSessionPresent: isSessionPresent, properties: properties)))
        _ = performed()
    }

    /// Closes the connection and opens another one, which the server accepts. `sent()` then returns the new packets.
    func reconnect(isSessionPresent: Bool, properties: PacketProperties = []) throws {
        close()
        _ = try sent()
        _ = performed()
        open()
        _ = try sent()
        try receive(.connAck(ConnAck(isSessionPresent: isSessionPresent, properties: properties)))
        #expect(performed().first != nil)
    }

    /// Closes the connection and opens another one without a session. Returns the actions that the CONNACK caused.
    func reconnectWithLostSession(properties: PacketProperties = []) throws -> [EngineAction] {
        close()
        _ = try sent()
        _ = performed()
        open()
        _ = try sent()
        let connAck = ConnAck(properties: properties)
        try receive(.connAck(connAck))
        let actions = performed()
        #expect(actions.first == .connected(connAck))
        return Array(actions.dropFirst())
    }

    /// Removes all reported actions, and returns the failures among them.
    func failures() -> [Token: EngineAction.Failure] {
        var failures: [Token: EngineAction.Failure] = [:]
        for case .failed(let token, let failure) in performed() { failures[token] = failure }
        return failures
    }

    /// Removes all reported actions, and returns the handles of the received messages among them.
    func handles() -> [IncomingMessage.Handle?] {
        performed().compactMap { if case .message(let message) = $0 { .some(message.handle) } else { nil } }
    }
}

extension Packet {
    static func message(
        _ topic: String = "t", _ delivery: Delivery = .atMostOnce, _ payload: [UInt8] = [1],
        properties: PacketProperties = []
    ) -> Packet {
        .publish(Publish(topic: topic, payload: payload, delivery: delivery, properties: properties))
    }
    static func pubAck(_ id: PacketID, _ code: PacketReasonCode = .success) -> Packet {
        .pubAck(Acknowledgement(packetID: id, reasonCode: code))
    }
    static func pubRec(_ id: PacketID, _ code: PacketReasonCode = .success) -> Packet {
        .pubRec(Acknowledgement(packetID: id, reasonCode: code))
    }
    static func pubRel(_ id: PacketID, _ code: PacketReasonCode = .success) -> Packet {
        .pubRel(Acknowledgement(packetID: id, reasonCode: code))
    }
    static func pubComp(_ id: PacketID, _ code: PacketReasonCode = .success) -> Packet {
        .pubComp(Acknowledgement(packetID: id, reasonCode: code))
    }
}
