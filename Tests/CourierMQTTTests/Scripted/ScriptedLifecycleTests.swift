import CourierCore
import CourierTesting
import CourierTransport
import Dispatch
import MQTTCodec
import TestSupport
import Testing

@testable import CourierMQTT

/// connect(), disconnect(), destroy() and the release of the client, in each phase of a connection.
@Suite(.timeLimit(.minutes(5))) struct ScriptedLifecycleTests {
    /// The phase of the client when the test calls it.
    enum Phase: CaseIterable, Sendable {
        case unused, authenticating, opening, connected, waiting, stopped, takenOver, closing

        /// The provider's answers that lead to this phase.
        var answers: [ScriptedProvider.Answer] { self == .authenticating ? [.silence] : [] }

        var script: [ConnectionScript] {
            switch self {
            case .unused, .authenticating, .connected: []
            case .closing: [.connection([.accept(), .stopReading, .pause(.seconds(8)), .resumeReading])]
            case .opening: [.connection([.expect(.connect), .stall])]
            case .waiting: [.connection([.refuse(.serverUnavailable)])]
            case .stopped: [.connection([.refuse(.banned)])]
            case .takenOver: [.connection([.accept(), .disconnect(.sessionTakenOver)])]
            }
        }

        /// True if an attempt or a connection is open in this phase.
        var isOpen: Bool { self == .opening || self == .connected || self == .closing }
    }

    private static func run(_ phase: Phase, _ body: (ScriptedWorld) async throws -> Void) async throws {
        try await ScriptedWorld.run(
            phase.script, provider: ScriptedProvider(phase.answers), mayOverlap: phase == .closing
        ) { _ in
        } _: { world in
            if phase != .unused { await world.connect() }
            if phase == .closing {
                // A payload that cannot be written completely, because this broker does not read.
                try world.client.publish(bytes: Array(repeating: 0, count: 1 << 20), to: "t", qos: .one)
                await world.settle()
                world.client.disconnect()
                await world.settle()
            }
            try await body(world)
        }
    }

    // MARK: connect()

    @Test(
        arguments: zip(
            [Phase.authenticating, .opening, .connected],
            ["Client is authenticating", "Client connecting", "Client already connected"]))
    func `a second connect() is discarded, and connectDiscarded contains the reason`(_ phase: Phase, _ reason: String)
        async throws
    {
        try await Self.run(phase) { world in
            await world.connect()
            guard case .connectDiscarded(let told) = world.test.events.last else {
                Issue.record("\(world.events)")
                return
            }
            #expect(told == reason)
            #expect(world.events.count { $0 == "connectDiscarded" } == 1)
            #expect(await world.broker.connections.count <= 1)
        }
    }

    @Test(arguments: [Phase.unused, .waiting, .stopped, .takenOver, .closing])
    func `connect() works if the client is unused, waiting, stopped or closing, or its session was taken over`(
        _ phase: Phase
    ) async throws {
        try await Self.run(phase) { world in
            await world.connect()
            await world.run(for: .seconds(5))
            #expect(world.client.connectionState == .connected)
            #expect(await world.connectedAnswer()?.success != nil)
        }
    }

    // MARK: disconnect()

    @Test(arguments: Phase.allCases)
    func `disconnect() works in every connection phase, and a pending connected() call returns`(
        _ phase: Phase
    ) async throws {
        try await Self.run(phase) { world in
            let waiting = Task { [client = world.client] in try await client.connected() }
            let result = await Self.settled(waiting, world) { world.client.disconnect() }
            if phase == .connected {
                #expect(result.success != nil)
            } else {
                #expect(result.failure is CourierError)
            }
            let closed = Box<Bool>()
            world.client.disconnect { _ in closed.value = true }
            await world.run(for: .seconds(10))
            #expect(closed.value == true)
            #expect(world.client.connectionState == .disconnected)
            let count = await world.broker.connections.count
            await world.run(for: .seconds(10_000))
            #expect(await world.broker.connections.count == count)
            #expect(await world.broker.connections.allSatisfy { $0.closedAt != nil })
            if phase == .connected { #expect(world.events.suffix(2) == ["courierDisconnect", "connectionDisconnect"]) }
            if phase == .opening { #expect(world.events.suffix(2) == ["courierDisconnect", "connectionFailure"]) }
            await world.connect()
            await world.run(for: .seconds(5))
            #expect(world.client.connectionState == .connected)
        }
    }

    // MARK: destroy()

    @Test(arguments: Phase.allCases)
    func `destroy() works in every connection phase, and the next connection is a clean start`(_ phase: Phase)
        async throws
    {
        try await Self.run(phase) { world in
            world.client.subscribe(("old", .one))
            await world.settle()
            let message = phase == .unused ? nil : try world.publish("old")
            let waiting = Task { [client = world.client] in try await client.connected() }
            _ = await Self.settled(waiting, world) { world.client.destroy() }
            await world.settle()
            if phase != .connected, let message { #expect(message.value?.failure?.code == .clientDestroyed) }
            #expect(!world.client.hasExistingSession)
            await world.run(for: .seconds(6))
            let count = await world.broker.connections.count
            await world.run(for: .seconds(1_000))
            #expect(await world.broker.connections.count == count)
            #expect(throws: CourierError.self) { try world.publish("none") }
            await world.connect()
            #expect(world.client.connectionState == .connected)
            let last = try #require(await world.broker.connections.last)
            #expect(last.connect?.isCleanStart == true)
            #expect(last.publishes.isEmpty)
            #expect(await world.broker.packets(.subscribe, on: last.number).isEmpty)
        }
    }

    @Test func `a subscription made right after destroy() belongs to the next session`() async throws {
        try await ScriptedWorld.run { world in
            await world.connect()
            world.client.destroy()
            world.client.subscribe(("new", .one))
            world.client.connect()
            await world.run(for: .seconds(5))
            #expect(await world.broker.packets(.subscribe, on: 2).count == 1)
            #expect(await world.broker.connections.map(\.connect?.isCleanStart) == [false, true])
            let outcome = try world.publish("new")
            await world.settle()
            #expect(outcome.value?.success != nil)
        }
    }

    @Test func `a message published right after destroy() and connect() is sent in the next session`() async throws {
        try await ScriptedWorld.run { world in
            await world.connect()
            world.client.destroy()
            world.client.connect()
            let outcome = try world.publish("new")
            await world.run(for: .seconds(5))
            #expect(outcome.value != nil)
            #expect(outcome.value?.success != nil)
            #expect(await world.publishes(on: 2).map(\.text) == ["new"])
        }
    }

    @Test func `destroy() discards messages that wait because the broker does not read`() async throws {
        let slow = ConnectionScript.connection([.accept(), .stopReading, .pause(.seconds(8)), .resumeReading])
        try await ScriptedWorld.run([slow], mayOverlap: true) { _ in
        } _: { world in
            await world.connect()
            for _ in 0..<4 {
                try world.client.publish(bytes: Array(repeating: 0, count: 1 << 20), to: "big", qos: .one)
                await world.settle()
            }
            let outcome = try world.publish("old")
            await world.settle()
            world.client.destroy()
            await world.run(for: .seconds(10))
            #expect(outcome.value?.failure?.code == .clientDestroyed)
            await world.connect()
            #expect(await world.publishes(on: 2).isEmpty)
        }
    }

    /// Calls `act` while the task waits, and returns the result of the task.
    private static func settled(
        _ task: Task<Void, any Error>, _ world: ScriptedWorld, _ act: () -> Void
    ) async -> Result<Void, any Error> {
        let ended = Box<Result<Void, any Error>>()
        let observer = Task { ended.value = await task.result }
        await world.until { ended.value != nil || world.client.waitingCount > 0 }
        act()
        await world.until { ended.value != nil }
        await observer.value
        return await task.result
    }

    @Test func `when the tasks of async calls are cancelled, the calls return and no waiter remains`() async throws {
        let silent = ConnectionScript.connection([.expect(.connect), .stall])
        try await ScriptedWorld.run([silent]) { world in
            await world.connect()
            let client = world.client
            let texts = client.messages(String.self, from: "a")
            let tasks: [Task<Void, any Error>] = [
                Task { try await client.connected() },
                Task { _ = try await client.subscribe(to: "b") },
                Task { try await client.unsubscribe(from: "c") },
                Task { _ = try await client.publish("x", to: "d") },
            ]
            await world.until { client.waitingCount >= 3 }  // disconnect() without a connection does not wait.
            for task in tasks { task.cancel() }
            for task in tasks { _ = await task.result }
            #expect(client.waitingCount == 0)
            let reading = Task {
                var iterator = texts.makeAsyncIterator()
                return try await iterator.next()
            }
            await world.until { client.waitingCount == 1 }
            reading.cancel()
            let end = try await reading.value
            #expect(end == nil)
            #expect(client.waitingCount == 0)
        }
    }

    @Test func `the transport is closed if disconnect() is called before the transport starts`() async throws {
        let client = Box<MQTTClient>()
        try await ScriptedWorld.run { config in
            let endpoint = config.endpoint
            config.endpoint = { options in
                client.value?.disconnect()  // The client handles the call before the stream starts.
                return endpoint?(options) ?? .unix(path: "")
            }
        } _: { world in
            client.value = world.client
            await world.connect()
            client.value = nil
            #expect(world.events.last == "connectionFailure")
            let closedAt = await world.broker.connections.first?.closedAt
            #expect(closedAt != nil)
        }
    }

    @Test(arguments: [0, 1, 2])
    func `disconnect() during TLS preparation or the TLS handshake ends the attempt`(_ moment: Int) async throws {
        try await ScriptedWorld.run(afterwards: [.stall], isScriptChecked: false) { config in
            var tls = TLSClientConfiguration()
            tls.serverName = "broker.invalid"
            config.tls = tls
        } _: { world in
            world.client.connect()
            if moment > 0 { await world.until { world.events.contains("connectionAttempt") } }
            if moment > 1 { await world.until { await !world.broker.connections.isEmpty } }
            let closed = Box<Bool>()
            world.client.disconnect { _ in closed.value = true }
            await world.until { closed.value == true }
            await world.settle()
            #expect(world.client.connectionState == .disconnected)
            #expect(!world.events.contains("connectionSuccess"))
            await world.run(for: .seconds(100))
            #expect(world.events.count { $0 == "connectionAttempt" } <= 1)
        }
    }

    // MARK: Release of the client

    private struct Parts {
        weak var client: MQTTClient?
        weak var coordinator: ClientCoordinator?
        weak var publishing: Publishing?
        weak var readers: MessageReaders?
        weak var events: EventHub?
        weak var store: MemoryMessageStore?

        init(_ client: MQTTClient, _ store: MemoryMessageStore) {
            self.client = client
            coordinator = client.parts.coordinator
            publishing = client.parts.publishing
            readers = client.parts.readers
            events = client.parts.events
            self.store = store
        }

        var living: [String] {
            [
                ("client", client as AnyObject?), ("coordinator", coordinator), ("publishing", publishing),
                ("readers", readers), ("events", events), ("store", store),
            ].compactMap { $0.1 == nil ? nil : $0.0 }
        }
    }

    @Test(arguments: Phase.allCases, [false, true])
    func `releasing the last reference to a client closes the connection and frees the client's objects`(
        _ phase: Phase, _ isStored: Bool
    ) async throws {
        let clock = VirtualClock()
        let group = try EventLoopGroup(name: "scripted-end", clock: clock)
        let broker = try ScriptedBroker.start(phase.script, on: group.loops[0])
        let provider = ScriptedProvider(phase.answers)
        let ended = Box<Result<PublishReceipt, CourierError>>()
        let queue = DispatchQueue(label: "test.scripted-end")
        let hasConnection = phase != .unused && phase != .authenticating
        let parts: Parts
        do {
            let store = MemoryMessageStore()
            let test = try TestClient(.local(broker.port), on: group) { config in
                config = MQTTClientConfig(authService: provider, autoReconnectInterval: 1, maxAutoReconnectInterval: 30)
                if isStored { config.messageStore = store }
                config.deliveryQueue = queue
                config.environment.eventLoops = group
                config.environment.networkMonitor = AlwaysAvailableNetwork()
                config.protocolVersion = .version5
                config.endpoint = { _ in broker.connectInMemory() }
                config.topics = ["a": .one]
                config.messagePersistenceTTLSeconds = 60
            }
            func settle() async {
                for _ in 0..<3 {
                    await clock.settle(group.loops[0])
                    await withCheckedContinuation { continuation in queue.async { continuation.resume() } }
                    await clock.settle(group.loops[0])
                }
            }
            if phase != .unused { test.client.connect() }
            // With a store, tasks read it before the client connects.
            let deadline = ContinuousClock.now + .patience
            while hasConnection, await broker.connections.isEmpty, ContinuousClock.now < deadline { await settle() }
            await settle()
            if phase != .unused {
                try test.client.publish(text: "x", to: "t", qos: .two) { ended.value = $0 }
            }
            if phase == .closing {
                try test.client.publish(bytes: Array(repeating: 0, count: 1 << 20), to: "t", qos: .one)
                await settle()
                test.client.disconnect()
            }
            await settle()
            parts = Parts(test.client, store)
        }
        await clock.run(for: .seconds(10), on: group.loops[0])
        for _ in 0..<5 { await clock.settle(group.loops[0]) }
        let deadline = ContinuousClock.now + .patience
        while !parts.living.isEmpty, ContinuousClock.now < deadline { await clock.settle(group.loops[0]) }
        #expect(parts.living.isEmpty)
        #expect(await broker.connections.allSatisfy { $0.closedAt != nil })
        #expect(await broker.connections.count == (hasConnection ? 1 : 0))
        provider.completeKept()  // No request waits for this answer any more.
        await clock.run(for: .seconds(1_000), on: group.loops[0])
        #expect(await broker.connections.count == (hasConnection ? 1 : 0))
        await withCheckedContinuation { continuation in queue.async { continuation.resume() } }
        if phase != .unused { #expect(ended.value != nil, "the completion was forgotten") }
        await broker.shutdown()
        await group.shutdown()
    }
}
