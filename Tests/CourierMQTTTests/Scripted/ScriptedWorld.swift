import CourierCore
import CourierTesting
import CourierTransport
import Foundation
import MQTTCodec
import TestSupport
import Testing

@testable import CourierMQTT

/// A client and a ``ScriptedBroker`` on one event loop with a ``VirtualClock``. Time passes only when a test advances it.
/// When such a call returns, all effects of the passed time have happened.
///
/// ```swift
/// try await ScriptedWorld.run([.connection([.refuse(.serverUnavailable)])]) { world in
///     await world.connect()
///     await world.run(for: .seconds(1))
///     #expect(world.client.connectionState == .connected)
/// }
/// ```
///
/// At the end of each run, the world checks that the events follow the grammar, before and after the client is destroyed. It
/// also checks that no caller still waits.
final class ScriptedWorld: Sendable {
    /// The transport between the client and the broker.
    enum Way: Sendable {
        case memory(capacity: Int = 64 << 10)
        /// TCP to this host.
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

    /// Runs `body` with a client. By default, the client uses MQTT 5 without a keep-alive. `provider` and `change` can
    /// change this.
    ///
    /// If the broker does not read, it does not notice the end of a connection. Connections may then seem to overlap.
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
        await run(for: .seconds(6))  // If a broker does not close, the client closes after 5 s.
        var grammar = EventGrammar(hasStore: client.parts.publishing.store != nil)
        for event in test.events { grammar.record(event) }
        let open = grammar.openStarts.filter { !$0.hasPrefix("messageSend") }
        #expect(open.isEmpty, "\(test.eventNames)", sourceLocation: sourceLocation)
        #expect(client.connectionState == .disconnected, sourceLocation: sourceLocation)
        // Each test awaits its own calls. A caller that still waits here would wait until the client is destroyed.
        #expect(client.waitingCount == 0, "a continuation was forgotten", sourceLocation: sourceLocation)
        client.destroy()
        await settle()
        for event in test.events.dropFirst(grammar.count) { grammar.record(event) }
        #expect(grammar.violations.isEmpty, "\(test.eventNames)", sourceLocation: sourceLocation)
        // Messages that wait for an acknowledgement end with the session. Messages that are only in the store end
        // without an event.
        let mayMessagesBeLeft = client.parts.publishing.store != nil || !test.isListening
        let left = grammar.openStarts.filter { !mayMessagesBeLeft || !$0.hasPrefix("messageSend") }
        #expect(left.isEmpty, "\(test.eventNames)", sourceLocation: sourceLocation)
        #expect(client.waitingCount == 0, "destroy() left a continuation", sourceLocation: sourceLocation)
        let connections = await broker.connections
        // A stream that is closed before it opens has no packets. ScriptedLifecycleTests tests this case.
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

    /// Waits until all work that needs no time is done, on the loop and on the delivery queue.
    @discardableResult
    func settle() async -> ContinuousClock.Instant? {
        var next: ContinuousClock.Instant?
        var round = 0
        var eventCount = 0
        // The delivery queue delivers many events in several blocks. Each block may cause further events.
        while round < 3 || eventCount != test.events.count {
            round += 1
            eventCount = test.events.count
            await clock.settle(loop)
            await withCheckedContinuation { continuation in test.queue.async { continuation.resume() } }
            next = await clock.settle(loop)
        }
        return next
    }

    /// Advances the time, and stops at each timer.
    func run(for duration: Duration) async {
        let end = clock.now + duration
        while let next = await settle(), next <= end { clock.advance(to: next) }
        clock.advance(to: end)
        await settle()
    }

    /// Waits for tasks on other threads, and for their immediate effects.
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

    /// Calls `connect()`, and returns when the immediate effects have happened.
    func connect() async {
        client.connect()
        await settle()
    }

    // MARK: What happened

    /// The times of the connections, counted from the first connection.
    var connectTimes: [Duration] {
        get async {
            let connections = await broker.connections
            return connections.map { connections[0].openedAt.duration(to: $0.openedAt) }
        }
    }

    /// The times between the starts of two connections.
    var gaps: [Duration] {
        get async {
            let times = await connectTimes
            return zip(times, times.dropFirst()).map { $1 - $0 }
        }
    }

    /// The times at which packets that match the pattern arrived, counted from the start of the clock.
    func times(of pattern: PacketPattern, on connection: Int? = nil) async -> [Duration] {
        await broker.packets(pattern, on: connection).map { clock.start.duration(to: $0.receivedAt) }
    }

    func publishes(on connection: Int? = nil) async -> [Publish] {
        await broker.packets(.publish, on: connection).compactMap(\.packet.publish)
    }

    /// The errors of the events with this name, in order.
    func errors(of name: String) -> [CourierError] {
        test.events.filter { $0.name == name }.compactMap { $0.error as? CourierError }
    }

    /// The result of `connected()`; `nil` if the call would wait.
    func connectedAnswer() async -> Result<Void, CourierError>? {
        let answer = Box<Result<Void, CourierError>>()
        let key = client.parts.coordinator.whenConnected { answer.value = $0 }
        await settle()
        client.parts.coordinator.forgetConnectionWaiter(key)
        return answer.value
    }

    /// Publishes without waiting. The box receives the result.
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
    /// The error that the event contains.
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
