import CourierCore
import CourierTesting
import CourierTransport
import Dispatch
import Foundation
import MQTTCodec
import Synchronization
import TestSupport
import Testing

@testable import CourierMQTT

/// Outgoing messages that are stored, so that they survive the process.
@Suite(.timeLimit(.minutes(5))) struct ScriptedOutboxTests {
    static let refusing = [ConnectionScript.connection([.refuse(.serverUnavailable)])]
    static let present = ScriptStep.accept(isSessionPresent: true)

    static func run(
        _ script: [ConnectionScript] = [], _ store: ControlledStore = ControlledStore(),
        _ change: (inout MQTTClientConfig) -> Void = { _ in },
        _ body: (ScriptedWorld, ControlledStore) async throws -> Void
    ) async throws {
        try await ScriptedWorld.run(script) {
            $0.messageStore = store
            change(&$0)
        } _: { world in
            try await body(world, store)
        }
    }

    /// Connects to a broker without a session. Returns when the client has stored this change. From then on, the client
    /// changes the store only for new messages.
    static func connect(_ world: ScriptedWorld, _ store: ControlledStore) async {
        await world.connect()
        await world.until { store.changes.contains(.forgetAllPacketIDs) }
    }

    static func message(_ id: UInt64, _ text: String, _ qos: QoS = .one) -> StoredMessage {
        StoredMessage(
            id: StoredMessage.ID(rawValue: id), topic: "t", payload: Array(text.utf8), qos: qos, storedAt: Date())
    }

    // MARK: Into the store

    @Test(arguments: [QoS.one, .two])
    func `a message is stored when it is published, and removed when it is acknowledged`(_ qos: QoS) async throws {
        try await Self.run { world, store in
            await world.connect()
            let outcome = try world.publish("x", qos: qos)
            await world.until { outcome.value != nil }
            #expect(outcome.value?.success != nil)
            await world.until { await store.memory.summary(of: world.scope).outgoingCount == 0 }
            let steps = store.changes.filter { $0.isEnqueue || $0 == .removeOutgoing(StoredMessage.ID(rawValue: 1)) }
            #expect(steps.map(\.isEnqueue) == [true, false])
        }
    }

    @Test func `a message is not sent before it is stored`() async throws {
        try await Self.run { world, store in
            await Self.connect(world, store)
            store.hold()
            try world.publish("x")
            await world.settle()
            #expect(await world.publishes().isEmpty)
            store.release()
            await world.until { await world.publishes().map(\.text) == ["x"] }
        }
    }

    @Test(arguments: [QoS.oneWithoutPersistenceAndNoRetry, .oneWithoutPersistenceAndRetry, .zero])
    func `messages of QoS 0 and oneWithoutPersistence are sent without being stored`(_ qos: QoS) async throws {
        try await Self.run { world, store in
            await world.connect()
            await world.until { world.client.connectionState == .connected }
            try world.publish("x", qos: qos)
            await world.settle()
            #expect(await world.publishes().map(\.text) == ["x"])
            #expect(!store.changes.contains { $0.isEnqueue })
        }
    }

    @Test func `enqueue() returns when the message is stored, even without a connection`() async throws {
        try await Self.run(Self.refusing) { world, store in
            await world.connect()
            try await world.client.enqueue("x", to: "t")
            #expect(await store.memory.summary(of: world.scope).outgoingCount == 1)
            #expect(await world.publishes().isEmpty)
            await world.run(for: .seconds(1))
            await world.until { await world.publishes().map(\.text) == ["x"] }
        }
    }

    /// A client with a store that is busy with message "a". Two more messages may wait for the store.
    private static func runBehindSlowStore(
        _ overflow: OfflinePolicy.Overflow,
        _ body: (ScriptedWorld, ControlledStore) async throws -> Void
    ) async throws {
        try await run {
            $0.offline = OfflinePolicy(maximumCount: 3, overflow: overflow)
        } _: { world, store in
            await connect(world, store)
            store.hold()
            try world.publish("a")
            await world.until { store.heldCount == 1 }
            try await body(world, store)
        }
    }

    @Test func `with the overflow policy fail, publish() throws queueFull if too many messages wait for the store`()
        async throws
    {
        try await Self.runBehindSlowStore(.fail) { world, store in
            let outcomes = try ["b", "c"].map { try world.publish($0) }
            expectCourierError(.queueFull) { try world.publish("d") }
            store.release()
            await world.until { outcomes.allSatisfy { $0.value?.success != nil } }
            #expect(await world.publishes().map(\.text) == ["a", "b", "c"])
        }
    }

    @Test func `with dropOldest, the oldest messages that wait for the store fail with queueFull`() async throws {
        try await Self.runBehindSlowStore(.dropOldest) { world, store in
            let outcomes = try (0..<9).map { try world.publish("\($0)") }
            let accepted = Task { [client = world.client] in try await client.enqueue("last", to: "t") }
            let givenUp = Array(repeating: CourierError.Code.queueFull, count: 8)
            // The message in the running commit is the oldest.
            await world.until { outcomes[..<7].allSatisfy { $0.value?.failure?.code == .queueFull } }
            await world.until { world.errors(of: "messageSendFailure").map(\.code) == givenUp }
            store.release()
            _ = try await accepted.value
            await world.until { outcomes[8].value != nil }
            await world.until { await world.publishes().map(\.text) == ["7", "8", "last"] }
            await world.until { await store.memory.summary(of: world.scope).outgoingCount == 0 }
        }
    }

    @Test func `with dropNewest, a new message fails with queueFull if too many messages wait for the store`()
        async throws
    {
        try await Self.runBehindSlowStore(.dropNewest) { world, store in
            let outcomes = try ["b", "c", "d"].map { try world.publish($0) }
            await world.until { outcomes[2].value?.failure?.code == .queueFull }
            let notTaken = await #expect(throws: CourierError.self) { try await world.client.enqueue("e", to: "t") }
            #expect(notTaken?.code == .queueFull)
            let notSent = await #expect(throws: CourierError.self) { try await world.client.publish("f", to: "t") }
            #expect(notSent?.code == .queueFull)
            let givenUp = Array(repeating: CourierError.Code.queueFull, count: 3)
            await world.until { world.errors(of: "messageSendFailure").map(\.code) == givenUp }
            store.release()
            await world.until { outcomes[0].value?.success != nil && outcomes[1].value?.success != nil }
            #expect(await world.publishes().map(\.text) == ["a", "b", "c"])
        }
    }

    @Test func `with dropOldest, a newer latest-only message replaces the older message and drops no other message`()
        async throws
    {
        try await Self.runBehindSlowStore(.dropOldest) { world, store in
            let order = try world.publish("order")
            let request = PublishRequest(topic: TopicTemplate(exactly: "p"), isLatestOnly: true)
            let first = Task { [client = world.client] in try await client.publish("p1", as: request) }
            await world.until { world.client.waitingCount == 1 }
            let second = Task { [client = world.client] in try await client.publish("p2", as: request) }
            let firstError = await #expect(throws: CourierError.self) { try await first.value }
            #expect(firstError?.code == .messageReplaced)
            let third = Task { [client = world.client] in try await client.enqueue("p3", as: request) }
            let secondError = await #expect(throws: CourierError.self) { try await second.value }
            #expect(secondError?.code == .messageReplaced)
            store.release()
            _ = try await third.value
            await world.until { order.value?.success != nil }
            await world.until { await world.publishes().map(\.text) == ["a", "order", "p3"] }
        }
    }

    @Test func `publish() and enqueue() fail with storeFull if the store is full, and stored messages are still sent`()
        async throws
    {
        let store = ControlledStore(MemoryMessageStore(maximumRows: 2))
        try await Self.run(Self.refusing, store) { world, _ in
            await world.connect()
            let outcomes = try (0..<3).map { try world.publish("\($0)") }
            await world.until { outcomes[2].value != nil }
            #expect(outcomes[2].value?.failure?.code == .storeFull)
            await #expect(throws: CourierError.self) { try await world.client.enqueue("4", to: "t") }
            await world.run(for: .seconds(1))
            await world.until { outcomes[1].value != nil }
            await world.until { await store.memory.summary(of: world.scope).outgoingCount == 0 }
            try world.publish("later")
            await world.until { await world.publishes().map(\.text) == ["0", "1", "later"] }
        }
    }

    @Test func `messages that have no room in memory are read from the store later and sent in order`() async throws {
        try await Self.run(Self.refusing) {
            $0.storedMessagesInMemory = 600
        } _: { world, store in
            await world.connect()
            for index in 0..<2_000 { try await world.client.enqueue("\(index)", to: "t") }
            #expect(world.client.parts.publishing.queue.state.withLock { $0.rows.inMemory.count } == 600)
            await world.run(for: .seconds(2))
            await world.until {
                await world.run(for: .milliseconds(20))
                return await world.publishes().count == 2_000
            }
            #expect(await world.publishes().map(\.text) == (0..<2_000).map { "\($0)" })
            await world.until { await store.memory.summary(of: world.scope).outgoingCount == 0 }
        }
    }

    @Test func `a message is sent once, even if the message is readable in the store before the commit completes`()
        async throws
    {
        try await Self.run(Self.refusing) {
            $0.storedMessagesInMemory = 1
        } _: { world, store in
            await world.connect()
            for text in ["a", "b"] { try await world.client.enqueue(text, to: "t") }
            store.holdAnswers()
            let outcome = try world.publish("c")
            await world.until { await store.memory.summary(of: world.scope).outgoingCount == 3 }
            await world.run(for: .seconds(1))
            await world.until { await world.publishes().map(\.text) == ["a", "b"] }
            let count = store.outgoingReadCount
            await world.settle()
            #expect(store.outgoingReadCount == count)
            #expect(outcome.value == nil)
            store.releaseAnswers()
            await world.until { outcome.value?.success != nil }
            await world.until { await store.memory.summary(of: world.scope).outgoingCount == 0 }
            #expect(await world.publishes().map(\.text) == ["a", "b", "c"])
        }
    }

    @Test func `a newer latest-only message replaces the stored message to the same topic`() async throws {
        try await Self.run(Self.refusing) {
            $0.storedMessagesInMemory = 1
        } _: { world, store in
            await world.connect()
            try await world.client.enqueue("first", to: "other")
            for text in ["a", "b", "c"] {
                try await world.client.enqueue(
                    text, as: PublishRequest(topic: TopicTemplate(exactly: "t"), isLatestOnly: true))
            }
            await world.until { await store.memory.summary(of: world.scope).outgoingCount == 2 }
            await world.run(for: .seconds(1))
            await world.until { await world.publishes().map(\.text) == ["first", "c"] }
        }
    }

    @Test func `dropOldest drops the oldest waiting message, even if this message is stored`() async throws {
        try await Self.run(Self.refusing) {
            $0.offline = OfflinePolicy(maximumCount: 3, overflow: .dropOldest, queuesQoS0: true)
        } _: { world, store in
            await world.connect()
            let orders = (0..<3).map { "order \($0)" }
            for order in orders { try await world.client.enqueue(order, to: "t") }
            await world.settle()
            try world.client.publish(text: "telemetry", to: "t", qos: .zero)
            await world.until { await store.memory.summary(of: world.scope).outgoingCount == 2 }
            #expect(world.errors(of: "messageSendFailure").map(\.code) == [.queueFull])
            await world.run(for: .seconds(1))
            await world.until { await store.memory.summary(of: world.scope).outgoingCount == 0 }
            #expect(await world.publishes().map(\.text) == ["order 1", "order 2", "telemetry"])
        }
    }

    @Test func `a latest-only message that replaces a stored message is sent after all other stored messages`()
        async throws
    {
        try await Self.run(Self.refusing) { world, store in
            await world.connect()
            let latest = PublishRequest(topic: TopicTemplate(exactly: "state"), isLatestOnly: true)
            try await world.client.enqueue("old", as: latest)
            try await world.client.enqueue("other", to: "t")
            try await world.client.enqueue("new", as: latest)
            await world.run(for: .seconds(1))
            await world.until { await store.memory.summary(of: world.scope).outgoingCount == 0 }
            #expect(await world.publishes().map(\.text) == ["other", "new"])
            let sent = store.changes.compactMap { change -> UInt64? in
                if case .progress(let id, .sent) = change { id.rawValue } else { nil }
            }
            #expect(sent == [2, 3])
        }
    }

    @Test(arguments: [false, true])
    func `a replaced message is not sent, even if it is read from the store before it is removed`(isRemovedThen: Bool)
        async throws
    {
        let latest = PublishRequest(topic: TopicTemplate(exactly: "state"), isLatestOnly: true)
        try await Self.run(Self.refusing) {
            $0.storedMessagesInMemory = 1
        } _: { world, store in
            await world.connect()
            // One message in memory, one page of the store, and then the replaced message as the first message of the
            // next page.
            let texts = (0...StoredSession.pageSize).map { "\($0)" }
            for text in texts { try await world.client.enqueue(text, to: "t") }
            try await world.client.enqueue("old", as: latest)
            let removal = StoreChange.removeOutgoing(StoredMessage.ID(rawValue: UInt64(texts.count) + 1))
            store.fail { $0 == removal ? CourierError(.storeFailed, "Not yet.") : nil }
            store.holdReads()
            await world.run(for: .seconds(1))
            await world.until { store.heldReadCount == 1 }
            try await world.client.enqueue("new", as: latest)
            await world.settle()
            store.releaseRead()
            await world.until { store.heldReadCount == 1 }
            if isRemovedThen {
                store.fail(nil)
                await world.run(for: .seconds(1))
                await world.until { store.changes.contains(removal) }
            }
            store.letReadsPass()
            store.releaseRead()
            await world.until { await world.publishes().contains { $0.text == "new" } }
            #expect(await world.publishes().map(\.text) == texts + ["new"])
            store.fail(nil)
            await world.run(for: .seconds(1))
            await world.until { await store.memory.summary(of: world.scope).outgoingCount == 0 }
        }
    }

    // MARK: The end

    @Test func `stored messages remain in the store when the client is released`() async throws {
        let store = MemoryMessageStore()
        let options = ConnectOptions(
            host: "127.0.0.1", port: 1, keepAlive: 0, clientId: "gone", username: "", password: "")
        var test: TestClient? = try TestClient(options) { $0.messageStore = store }
        test?.client.connect()
        try await test?.client.enqueue("x", to: "t")
        let states = try #require(test?.client.states)
        test = nil
        for try await _ in states {}
        #expect(await store.summary(of: StoreScope(options)).outgoingCount == 1)
    }

    @Test func `a connection attempt fails with storeFailed if the store cannot be read, and is repeated`() async throws
    {
        try await ScriptedWorld.run {
            $0.messageStore = UnreadableStore(failures: 1)
        } _: { world in
            await world.connect()
            await world.until { world.events.contains("connectionFailure") }
            #expect(world.errors(of: "connectionFailure").map(\.code) == [.storeFailed])
            #expect(world.events.contains("messageStoreFailure"))
            await world.run(for: .seconds(1))
            await world.until { world.client.connectionState == .connected }
        }
    }
}

/// A store whose first reads fail.
final class UnreadableStore: MessageStore {
    private let memory = MemoryMessageStore()
    private let failures: Atomic<Int>

    init(failures: Int) { self.failures = Atomic(failures) }

    func commit(
        _ changes: [StoreChange], in scope: StoreScope,
        completion: @escaping @Sendable (Result<Void, CourierError>) -> Void
    ) { memory.commit(changes, in: scope, completion: completion) }

    func summary(of scope: StoreScope) async throws -> StoreSummary {
        if failures.subtract(1, ordering: .relaxed).oldValue > 0 {
            throw CourierError(.storeFailed, "The disk is on fire.")
        }
        return await memory.summary(of: scope)
    }

    func outgoing(in scope: StoreScope, after id: StoredMessage.ID?, limit: Int) async throws -> [StoredOutgoing] {
        await memory.outgoing(in: scope, after: id, limit: limit)
    }

    func incoming(
        in scope: StoreScope, matching filter: TopicFilter?, after id: StoredMessage.ID?, limit: Int
    ) async throws -> [StoredMessage] {
        await memory.incoming(in: scope, matching: filter, after: id, limit: limit)
    }

    func incomingPacketIDs(in scope: StoreScope) async throws -> Set<UInt16> {
        await memory.incomingPacketIDs(in: scope)
    }

    func subscriptions(in scope: StoreScope) async throws -> [StoredSubscription] {
        await memory.subscriptions(in: scope)
    }
}

extension ScriptedWorld {
    /// The store scope of the world's client.
    var scope: StoreScope { StoreScope(clientID: "scripted", broker: "broker.invalid:\(broker.port)") }
}

extension MessageStore {
    /// Stores rows as if an earlier process had stored them.
    func fill(_ changes: [StoreChange], _ scope: StoreScope) async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            commit(changes, in: scope) { continuation.resume(with: $0.mapError { $0 }) }
        }
    }
}
