import CourierCore
import CourierTesting
import CourierTransport
import MQTTCodec
import Synchronization
import Testing

@testable import CourierMQTT

/// `client.waiting` in each state of a message.
@Suite(.timeLimit(.minutes(5))) struct WaitingMessagesTests {
    @Test(arguments: OutgoingSetup.all)
    func `client.waiting lists messages that wait for a connection, with topic, size and age`(_ setup: OutgoingSetup)
        async throws
    {
        try await setup.offline(OfflinePolicy()) { world in
            let client = world.client
            try await client.enqueue("12345", to: "a/b", qos: .one, properties: setup.properties())
            await world.run(for: .milliseconds(300))
            try await client.enqueue("1", to: "c", qos: .two, properties: setup.properties())
            await world.run(for: .milliseconds(200))
            let waiting = try await client.waiting
            #expect(waiting.count == 2)
            #expect(waiting.oldest.map(\.topic) == ["a/b", "c"])
            #expect(waiting.oldest.map(\.qos) == [.one, .two])
            #expect(waiting.byteCount == waiting.oldest.map(\.byteCount).reduce(0, +))
            // Both messages have the same properties.
            #expect(waiting.oldest[0].byteCount - waiting.oldest[1].byteCount == 6)
            #expect(waiting.oldest.map(\.isStored) == [setup.hasStore, setup.hasStore])
            // A commit of the store may let up to 50 ms pass.
            for (message, age) in zip(waiting.oldest, [500, 200]) {
                #expect(.milliseconds(age)...(.milliseconds(age + 150)) ~= message.age)
            }
            await world.run(for: .seconds(2))
            await world.soon { await world.publishes().count == 2 }
            await world.soon { client.metrics.inFlightCount == 0 }
            let later = try await client.waiting
            #expect(later.count == 0 && later.byteCount == 0 && later.oldest.isEmpty)
        }
    }

    @Test(arguments: OutgoingSetup.all)
    func `client.waiting does not list messages in flight`(_ setup: OutgoingSetup) async throws {
        try await setup.connected(OfflinePolicy()) { world, gate in
            for number in 0..<OutgoingSetup.receiveMaximum + 3 {
                try await world.client.enqueue("\(number)", to: "t/\(number)", properties: setup.properties())
            }
            await world.soon { await world.publishes().count == OutgoingSetup.receiveMaximum }
            let waiting = try await world.client.waiting
            #expect(waiting.count == 3)
            #expect(waiting.oldest.map(\.topic) == ["t/20", "t/21", "t/22"])
            #expect(world.client.metrics.inFlightCount == OutgoingSetup.receiveMaximum)
            #expect(world.client.metrics.waitingCount == 3)
            gate.release()
            await world.soon { world.client.metrics.inFlightCount == 0 }
            #expect(try await world.client.waiting.count == 0)
        }
    }

    @Test func `client.waiting lists messages of an earlier process before the messages of this process`() async throws
    {
        let store = ControlledStore()
        let setup = OutgoingSetup(isListening: false, hasStore: true, hasProperties: false)
        let script = ConnectionScript.connection([OutgoingSetup.accept(receiveMaximum: 1), .hold(ScriptGate())])
        try await setup.run([script], OfflinePolicy(), store) { world in
            // More rows than the client reads into memory at once.
            let memoryCount = world.client.parts.publishing.queue.state.withLock { $0.rows.memoryCount }
            let count = memoryCount + 700
            let rows = (0..<count).map { StoreChange.enqueue(ScriptedOutboxTests.message(UInt64($0 + 1), "row \($0)")) }
            try await store.memory.fill(rows, world.scope)
            await world.connect()
            await world.soon { await world.publishes().count == 1 }
            try await world.client.enqueue("new", to: "new")
            let queue = world.client.parts.publishing.queue
            await world.soon { queue.state.withLock { $0.rules.unreadCount } < count - memoryCount / 2 }
            let waiting = try await world.client.waiting
            #expect(waiting.count == count)
            #expect(waiting.oldest.count == WaitingMessages.listLimit)
            #expect(waiting.oldest.allSatisfy { $0.isStored && $0.topic != "new" })
            #expect(world.client.metrics.waitingCount == count)
        }
    }

    @Test func `client.waiting reads messages of an earlier process that are only in the store`() async throws {
        let store = ControlledStore()
        let setup = OutgoingSetup(isListening: false, hasStore: true, hasProperties: false)
        try await setup.offline(OfflinePolicy(), store: store) { world in
            try await world.client.enqueue("new", to: "new")
            let rows = (0..<3).map { StoreChange.enqueue(ScriptedOutboxTests.message(UInt64($0 + 1), "row \($0)")) }
            try await store.memory.fill(rows, world.scope)
            // The outgoing queue reads no rows while it counts them as unread.
            let outgoing = try #require(world.client.parts.publishing.store)
            outgoing.loop.execute {
                outgoing.lastEarlierID = 3
                outgoing.lastRead = nil
            }
            world.client.parts.publishing.queue.beginReading(unreadCount: 3)
            let waiting = try await world.client.waiting
            #expect(waiting.count == 4)
            #expect(waiting.oldest.count == 4)
            #expect(waiting.oldest.last?.topic == "new")
            #expect(waiting.oldest.prefix(3).allSatisfy { $0.byteCount == $0.topic.utf8.count + 5 && $0.isStored })
        }
    }

    @Test func `client.waiting is empty if the client was never connected`() async throws {
        let setup = OutgoingSetup(isListening: false, hasStore: true, hasProperties: false)
        try await setup.run([], OfflinePolicy()) { world in
            let waiting = try await world.client.waiting
            #expect(waiting.count == 0 && waiting.oldest.isEmpty)
        }
    }

    // MARK: Before the store is open

    private static let messages = (0..<3).map {
        StoreChange.enqueue(ScriptedOutboxTests.message(UInt64($0 + 1), "row \($0)"))
    }

    /// Runs `body` with a client that is not connected. The provider returns options when `body` tells it. The broker
    /// refuses the first connection.
    private static func unopened(
        _ store: (any MessageStore)?, _ scope: StoreScope? = nil,
        _ body: (ScriptedWorld, ScriptedProvider) async throws -> Void
    ) async throws {
        let provider = ScriptedProvider(StoreScopeTests.options(), [.silence])
        try await ScriptedWorld.run(
            [.connection([.refuse(.serverUnavailable)])], provider: provider, isScriptChecked: false
        ) {
            $0.messageStore = store
            $0.session.storeScope = scope
        } _: {
            try await body($0, provider)
        }
    }

    @Test(arguments: [nil, StoreScope(clientID: "phone", broker: "orders")])
    func `client.waiting right after connect() includes the messages of an earlier process`(_ scope: StoreScope?)
        async throws
    {
        let store = ControlledStore()
        try await store.memory.fill(Self.messages, scope ?? StoreScope(StoreScopeTests.options()))
        store.holdReads()
        try await Self.unopened(store, scope) { world, provider in
            world.client.connect()
            let waiting = Task { [client = world.client] in try await client.waiting }
            await world.until { provider.keptCount == 1 && world.client.waitingCount == 1 }
            provider.completeKept()
            await world.until { store.heldReadCount == 1 }
            #expect(world.client.waitingCount == 1)
            store.letReadsPass()
            store.releaseRead()
            let messages = try await waiting.value
            #expect(messages.count == 3 && messages.oldest.map(\.topic) == ["t", "t", "t"])
        }
    }

    @Test(arguments: [nil, StoreScope(clientID: "phone", broker: "orders")])
    func `client.waiting throws the error of a store that cannot be read`(_ scope: StoreScope?) async throws {
        try await Self.unopened(UnreadableStore(failures: 1_000), scope) { world, provider in
            world.client.connect()
            await world.until { provider.keptCount == 1 }
            provider.completeKept()
            for _ in 0..<2 {
                let error = await #expect(throws: CourierError.self) { try await world.client.waiting }
                #expect(error?.code == .storeFailed)
                await world.until { world.events.contains("connectionFailure") }
            }
        }
    }

    /// An event that ends the wait for the stored messages.
    enum EndOfWait: CaseIterable, Sendable { case failureOfProvider, disconnect, destroy, cancellation }

    @Test(arguments: EndOfWait.allCases)
    func `client.waiting returns when the attempt ends before the store is opened`(_ end: EndOfWait) async throws {
        let store = ControlledStore()
        try await store.memory.fill(Self.messages, StoreScope(StoreScopeTests.options()))
        try await Self.unopened(store) { world, provider in
            world.client.connect()
            let waiting = Task { [client = world.client] in try await client.waiting }
            await world.until { provider.keptCount == 1 && world.client.waitingCount == 1 }
            switch end {
            case .failureOfProvider: provider.completeKept(.failure(.httpError(statusCode: 500)))
            case .disconnect: world.client.disconnect()
            case .destroy: world.client.destroy()
            case .cancellation: waiting.cancel()
            }
            if end == .cancellation {
                await #expect(throws: CancellationError.self) { try await waiting.value }
            } else {
                let messages = try await waiting.value
                #expect(messages.count == 0)
            }
        }
    }

    @Test func `when connected() returns, client.metrics counts the messages of an earlier process`() async throws {
        let store = ControlledStore()
        try await store.memory.fill(Self.messages, StoreScope(StoreScopeTests.options()))
        let gate = ScriptGate()
        let script = ConnectionScript.connection([.accept(), .fault(.hold(.pubAck, until: gate))])
        try await ScriptedWorld.run([script], provider: ScriptedProvider(StoreScopeTests.options())) {
            $0.messageStore = store
        } _: { world in
            world.client.connect()
            try await world.client.connected()
            let metrics = world.client.metrics
            #expect(metrics.waitingCount + metrics.inFlightCount == 3)
            gate.release()
            await world.soon { world.client.metrics.acknowledgedCount == 3 }
            let end = world.client.metrics
            #expect(end.waitingCount + end.inFlightCount == 0)
        }
    }

    @Test func `without a store, client.waiting does not wait for the provider`() async throws {
        try await Self.unopened(nil) { world, provider in
            world.client.connect()
            await world.until { provider.keptCount == 1 }
            let messages = try await world.client.waiting
            #expect(messages.count == 0)
        }
    }
}
