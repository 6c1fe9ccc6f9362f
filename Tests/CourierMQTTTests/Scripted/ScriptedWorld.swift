import CourierCore
import CourierTesting
import CourierTransport
import Foundation
import MQTTCodec
import TestSupport
import Testing

@testable import CourierMQTT

/// A client and a ``ScriptedBroker`` on one loop that goes by a ``VirtualClock``: time passes only where a test says so, and
/// when it returns everything that follows from it has happened.
///
/// ```swift
/// try await ScriptedWorld.run([.connection([.refuse(.serverUnavailable)])]) { world in
///     await world.connect()
///     await world.run(for: .seconds(1))
///     #expect(world.client.connectionState == .connected)
/// }
/// ```
///
/// At the end of each run the events are checked against the grammar, before and after the client is destroyed, and
/// that no await was forgotten.
final class ScriptedWorld: Sendable {
    /// How the client comes to the broker.
    enum Way: Sendable {
        case memory(capacity: Int = 64 << 10)
        /// Over TCP, as the options say.
        case tcp(host: String = "127.0.0.1")
    }

    let clock: VirtualClock
    let broker: ScriptedBroker
    let test: TestClient
    let provider: ScriptedProvider
    private let group: EventLoopGroup

    private init(
        _ script: [ConnectionScript], afterwards: [ScriptStep], _ way: Way, _ provider: ScriptedProvider?,
        _ change: (inout MQTTClientConfig) -> Void
    ) throws {
        let clock = VirtualClock()
        let group = try EventLoopGroup(name: "scripted-world", clock: clock)
        let broker = try ScriptedBroker.start(script, afterwards: afterwards, on: group.loops[0])
        self.clock = clock
        self.group = group
        self.broker = broker
        let host = if case .tcp(let host) = way { host } else { "broker.invalid" }
        let options = ConnectOptions(
            host: host, port: broker.port, keepAlive: 0, clientId: "scripted", username: "", password: "")
        let asked = provider ?? ScriptedProvider(options)
        self.provider = asked
        asked.use(clock)
        test = try TestClient(options, on: group) { config in
            let queue = config.deliveryQueue
            config = MQTTClientConfig(authService: asked, autoReconnectInterval: 1, maxAutoReconnectInterval: 30)
            config.deliveryQueue = queue
            config.environment.eventLoops = group
            config.reconnect.jitter = .none
            config.environment.networkMonitor = AlwaysAvailableNetwork()
            config.logHandler = nil
            config.protocolVersion = .version5
            if case .memory(let capacity) = way {
                config.endpoint = { _ in broker.connectInMemory(capacity: capacity) }
            }
            change(&config)
        }
    }

    /// Runs `body` with a client that speaks MQTT 5 without a keep-alive, unless `provider` and `change` say otherwise.
    ///
    /// With a broker that does not read, and so does not see an end, connections may seem to overlap.
    static func run(
        _ script: [ConnectionScript] = [], afterwards: [ScriptStep] = [], over way: Way = .memory(),
        provider: ScriptedProvider? = nil, isScriptChecked: Bool = true, mayOverlap: Bool = false,
        _ change: (inout MQTTClientConfig) -> Void = { _ in },
        sourceLocation: SourceLocation = #_sourceLocation,
        _ body: (ScriptedWorld) async throws -> Void
    ) async throws {
        let world = try ScriptedWorld(script, afterwards: afterwards, way, provider, change)
        do {
            try await body(world)
            try await world.end(isScriptChecked: isScriptChecked, mayOverlap: mayOverlap, sourceLocation)
        } catch {
            await world.stop()
            throw error
        }
        await world.stop()
    }

    private func end(isScriptChecked: Bool, mayOverlap: Bool, _ sourceLocation: SourceLocation) async throws {
        client.disconnect()
        await run(for: .seconds(6))  // A broker that does not close has 5 s.
        var grammar = EventGrammar(hasStore: client.parts.publishing.store != nil)
        for event in test.events { grammar.record(event) }
        let open = grammar.openStarts.filter { !$0.hasPrefix("messageSend") }
        #expect(open.isEmpty, "\(test.eventNames)", sourceLocation: sourceLocation)
        #expect(client.connectionState == .disconnected, sourceLocation: sourceLocation)
        // Tests await what they begin, so that what waits here would wait until the client is destroyed.
        #expect(client.waitingCount == 0, "a continuation was forgotten", sourceLocation: sourceLocation)
        client.destroy()
        await settle()
        for event in test.events.dropFirst(grammar.count) { grammar.record(event) }
        #expect(grammar.violations.isEmpty, "\(test.eventNames)", sourceLocation: sourceLocation)
        // Messages that wait for an acknowledgement end with the session; what only the store has ends without a word.
        let mayMessagesBeLeft = client.parts.publishing.store != nil || !test.isListening
        let left = grammar.openStarts.filter { !mayMessagesBeLeft || !$0.hasPrefix("messageSend") }
        #expect(left.isEmpty, "\(test.eventNames)", sourceLocation: sourceLocation)
        #expect(client.waitingCount == 0, "destroy() left a continuation", sourceLocation: sourceLocation)
        let connections = await broker.connections
        // A stream that is given up before it begins says nothing; ScriptedLifecycleTests has a test of its own for it.
        let overlaps = zip(connections, connections.dropFirst()).filter { one, next in
            !one.packets.isEmpty && one.closedAt.map { $0 > next.openedAt } ?? true
        }
        let times = overlaps.map { one, next in
            "\(one.number): \(clock.start.duration(to: one.openedAt)) to "
                + "\(one.closedAt.map { clock.start.duration(to: $0) } ?? .zero), "
                + "\(next.number) from \(clock.start.duration(to: next.openedAt)), \(one.packets.count) packets"
        }
        #expect(
            overlaps.isEmpty || mayOverlap, "two connections at a time: \(times)", sourceLocation: sourceLocation)
        if isScriptChecked { #expect(await broker.failures.isEmpty, sourceLocation: sourceLocation) }
    }

    private func stop() async {
        client.destroy()
        await settle()
        await broker.shutdown()
        await group.shutdown()
    }

    var client: MQTTClient { test.client }
    var loop: EventLoop { group.loops[0] }
    var events: [String] { test.eventNames }

    // MARK: Time

    /// Returns when everything has happened that happens without time: on the loop, and on the delivery queue.
    @discardableResult
    func settle() async -> ContinuousClock.Instant? {
        var next: ContinuousClock.Instant?
        var round = 0
        var eventCount = 0
        // The queue takes many events in turns, each of which brings some more.
        while round < 3 || eventCount != test.events.count {
            round += 1
            eventCount = test.events.count
            await clock.settle(loop)
            await withCheckedContinuation { continuation in test.queue.async { continuation.resume() } }
            next = await clock.settle(loop)
        }
        return next
    }

    /// Lets time pass, stopping at each timer.
    func run(for duration: Duration) async {
        let end = clock.now + duration
        while let next = await settle(), next <= end { clock.advance(to: next) }
        clock.advance(to: end)
        await settle()
    }

    /// Waits for what tasks on other threads do, and for what follows from it at once.
    func until(sourceLocation: SourceLocation = #_sourceLocation, _ condition: () async -> Bool) async {
        let end = ContinuousClock.now + .patience
        while !(await condition()) {
            guard ContinuousClock.now < end else {
                Issue.record("waited in vain; \(events)", sourceLocation: sourceLocation)
                return
            }
            await settle()
        }
        await settle()
    }

    /// Asks for a connection, and returns when what follows at once has happened.
    func connect() async {
        client.connect()
        await settle()
    }

    // MARK: What happened

    /// When the connections came, counted from the first.
    var connectTimes: [Duration] {
        get async {
            let connections = await broker.connections
            return connections.map { connections[0].openedAt.duration(to: $0.openedAt) }
        }
    }

    /// The pauses between the beginnings of the connections.
    var gaps: [Duration] {
        get async {
            let times = await connectTimes
            return zip(times, times.dropFirst()).map { $1 - $0 }
        }
    }

    /// The packets of a kind with the time at which they came, counted from the clock's start.
    func times(of pattern: PacketPattern, on connection: Int? = nil) async -> [Duration] {
        await broker.packets(pattern, on: connection).map { clock.start.duration(to: $0.receivedAt) }
    }

    func publishes(on connection: Int? = nil) async -> [Publish] {
        await broker.packets(.publish, on: connection).compactMap(\.packet.publish)
    }

    /// The errors of the events of a name, in order.
    func errors(of name: String) -> [CourierError] {
        test.events.filter { $0.name == name }.compactMap { $0.error as? CourierError }
    }

    /// Whether `connected()` has an answer, and which.
    func connectedAnswer() async -> Result<Void, CourierError>? {
        let answer = Box<Result<Void, CourierError>>()
        let key = client.parts.coordinator.whenConnected { answer.value = $0 }
        await settle()
        client.parts.coordinator.forgetConnectionWaiter(key)
        return answer.value
    }

    /// Publishes without waiting; the outcome comes into the box.
    @discardableResult
    func publish(_ text: String, to topic: String = "t", qos: QoS = .one) throws -> Box<
        Result<PublishReceipt, CourierError>
    > {
        let outcome = Box<Result<PublishReceipt, CourierError>>()
        try client.publish(text: text, to: topic, qos: qos) { outcome.value = $0 }
        return outcome
    }
}

extension [Duration] {
    static func seconds(_ values: Int...) -> [Duration] { values.map { .seconds($0) } }
}

extension Result {
    var success: Success? { if case .success(let success) = self { success } else { nil } }
    var failure: Failure? { if case .failure(let failure) = self { failure } else { nil } }
}

extension Packet {
    var publish: Publish? { if case .publish(let publish) = self { publish } else { nil } }
    var subscribe: Subscribe? { if case .subscribe(let subscribe) = self { subscribe } else { nil } }
    var unsubscribe: Unsubscribe? { if case .unsubscribe(let unsubscribe) = self { unsubscribe } else { nil } }
    var disconnect: Disconnect? { if case .disconnect(let disconnect) = self { disconnect } else { nil } }
}

extension Publish {
    var text: String { String(decoding: payload, as: UTF8.self) }
}

extension CourierEventType {
    /// The error that the event carries.
    var error: (any Error)? {
        switch self {
        case .connectionServiceAuthFailure(_, let error), .connectionFailure(_, let error),
            .connectionLost(_, let error, _, _), .subscribeFailure(_, _, let error),
            .unsubscribeFailure(_, _, let error),
            .pingFailure(_, let error), .messageReceiveFailure(_, let error, _),
            .messageSendFailure(_, _, let error, _):
            error
        default: nil
        }
    }
}
