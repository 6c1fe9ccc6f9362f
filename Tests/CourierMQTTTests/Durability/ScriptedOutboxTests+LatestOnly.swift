import CourierCore
import CourierTesting
import MQTTCodec
import Testing

@testable import CourierMQTT

/// Stored latest-only messages.
extension ScriptedOutboxTests {
    private static func latest(_ topic: String, _ qos: QoS = .one) -> PublishRequest {
        PublishRequest(topic: TopicTemplate(exactly: topic), qos: qos, isLatestOnly: true)
    }

    private static func waitingCount(_ world: ScriptedWorld) -> Int {
        world.client.parts.publishing.queue.waitingCount
    }

    @Test func `a latest-only message that is only on disk replaces an older message in memory`() async throws {
        try await Self.run(Self.refusing) {
            $0.storedMessagesInMemory = 2
        } _: { world, store in
            await world.connect()
            try await world.client.enqueue("A0", as: Self.latest("a"))
            for text in ["x", "y"] { try await world.client.enqueue(text, to: "t") }
            try await world.client.enqueue("A1", as: Self.latest("a"))
            await world.until { await store.memory.summary(of: world.scope).outgoingCount == 3 }
            #expect(world.errors(of: "messageSendFailure").map(\.code) == [.messageReplaced])
            await world.run(for: .seconds(1))
            await world.until { await store.memory.summary(of: world.scope).outgoingCount == 0 }
            #expect(await world.publishes().map(\.text) == ["x", "y", "A1"])
        }
    }

    @Test func `a latest-only message that was read from the store is replaced by a newer message`() async throws {
        try await Self.run(Self.refusing) {
            $0.storedMessagesInMemory = 2
        } _: { world, store in
            await world.connect()
            try await world.client.enqueue("A0", as: Self.latest("a"))
            try await world.client.enqueue("x", to: "t")
            try await world.client.enqueue("B0", as: Self.latest("b"))
            // A1 replaces A0. So B0 has room in memory, and is read from the store.
            try await world.client.enqueue("A1", as: Self.latest("a"))
            await world.until { await store.memory.summary(of: world.scope).outgoingCount == 3 }
            try await world.client.enqueue("B1", as: Self.latest("b"))
            await world.until { await store.memory.summary(of: world.scope).outgoingCount == 3 }
            await world.run(for: .seconds(1))
            await world.until { await store.memory.summary(of: world.scope).outgoingCount == 0 }
            #expect(await world.publishes().map(\.text) == ["x", "A1", "B1"])
        }
    }

    @Test(arguments: [false, true])
    func `a latest-only message replaced on disk reports messageReplaced, with or without a waiting caller`(
        isAwaited: Bool
    ) async throws {
        try await Self.run(Self.refusing) {
            $0.storedMessagesInMemory = 1
        } _: { world, store in
            await world.connect()
            try await world.client.enqueue("first", to: "other")
            var old: Task<PublishReceipt, any Error>?
            if isAwaited {
                old = Task { [client = world.client] in try await client.publish("old", as: Self.latest("t")) }
            } else {
                try await world.client.enqueue("old", as: Self.latest("t"))
            }
            await world.until { await store.memory.summary(of: world.scope).outgoingCount == 2 }
            try await world.client.enqueue("new", as: Self.latest("t"))
            await world.run(for: .seconds(1))
            await world.until { world.events.count { $0 == "messageSendSuccess" } == 2 }
            #expect(await world.publishes().map(\.text) == ["first", "new"])
            #expect(world.events.count { $0 == "messageSend" } == 3)
            #expect(world.errors(of: "messageSendFailure").map(\.code) == [.messageReplaced])
            if let old {
                let error = await #expect(throws: CourierError.self) { try await old.value }
                #expect(error?.code == .messageReplaced)
            }
        }
    }

    @Test func `[MQTT-4.7.3-4] latest-only messages to topics that differ only in Unicode composition are both sent`()
        async throws
    {
        try await Self.run(Self.refusing) {
            $0.storedMessagesInMemory = 1
        } _: { world, store in
            await world.connect()
            try await world.client.enqueue("first", to: "other")
            try await world.client.enqueue("composed", as: Self.latest("caf\u{E9}"))
            try await world.client.enqueue("decomposed", as: Self.latest("cafe\u{301}"))
            await world.run(for: .seconds(1))
            await world.until { await store.memory.summary(of: world.scope).outgoingCount == 0 }
            #expect(await world.publishes().map(\.text) == ["first", "composed", "decomposed"])
        }
    }

    // MARK: Beside messages that pass the store by

    @Test(arguments: [QoS.oneWithoutPersistenceAndRetry, .zero])
    func `a latest-only message whose commit is slow is replaced by a newer message without persistence`(
        qos: QoS
    ) async throws {
        try await Self.run(Self.refusing) {
            $0.offline = OfflinePolicy(queuesQoS0: true)
        } _: { world, store in
            await world.connect()
            try await world.client.enqueue("first", to: "other")
            await world.until { Self.waitingCount(world) == 1 }
            store.hold()
            let old = Task { [client = world.client] in try await client.publish("old", as: Self.latest("t")) }
            await world.until { store.heldCount == 1 }
            try await world.client.enqueue("new", as: Self.latest("t", qos))
            #expect(Self.waitingCount(world) == 2)
            store.release()
            let error = await #expect(throws: CourierError.self) { try await old.value }
            #expect(error?.code == .messageReplaced)
            #expect(Self.waitingCount(world) == 2)
            await world.run(for: .seconds(1))
            await world.until { await store.memory.summary(of: world.scope).outgoingCount == 0 }
            #expect(await world.publishes().map(\.text) == ["first", "new"])
            #expect(store.changes.contains(.removeOutgoing(StoredMessage.ID(rawValue: 2))))
        }
    }

    @Test func `a latest-only message that has no room in memory is replaced by a newer message without persistence`()
        async throws
    {
        try await Self.run(Self.refusing) {
            $0.storedMessagesInMemory = 1
        } _: { world, store in
            await world.connect()
            let (first, large) = (String(repeating: "f", count: 40), String(repeating: "l", count: 40))
            for text in [first, large] { try await world.client.enqueue(text, to: "other") }
            await world.until { Self.waitingCount(world) == 2 }
            store.hold()
            let old = Task { [client = world.client] in try await client.publish("old", as: Self.latest("t")) }
            await world.until { store.heldCount == 1 }
            try await world.client.enqueue("new", as: Self.latest("t", .oneWithoutPersistenceAndRetry))
            #expect(Self.waitingCount(world) == 3)
            store.release()
            let error = await #expect(throws: CourierError.self) { try await old.value }
            #expect(error?.code == .messageReplaced)
            await world.settle()
            #expect(world.errors(of: "messageSendFailure").map(\.code) == [.messageReplaced])
            await world.run(for: .seconds(1))
            await world.until { await store.memory.summary(of: world.scope).outgoingCount == 0 }
            #expect(await world.publishes().map(\.text) == [first, "new", large])
        }
    }

    @Test func `a latest-only message that is only on disk replaces an older message without persistence`() async throws
    {
        try await Self.run(Self.refusing) {
            $0.storedMessagesInMemory = 1
        } _: { world, store in
            await world.connect()
            let (first, large) = (String(repeating: "f", count: 40), String(repeating: "l", count: 40))
            try await world.client.enqueue(first, to: "other")
            try await world.client.enqueue("old", as: Self.latest("t", .oneWithoutPersistenceAndRetry))
            try await world.client.enqueue(large, as: Self.latest("t"))
            await world.until { world.events.contains("messageSendFailure") }
            #expect(world.errors(of: "messageSendFailure").map(\.code) == [.messageReplaced])
            await world.run(for: .seconds(1))
            await world.until { await store.memory.summary(of: world.scope).outgoingCount == 0 }
            #expect(await world.publishes().map(\.text) == [first, large])
        }
    }

    @Test func `a latest-only message without persistence replaces an older message that is only on disk`() async throws
    {
        try await Self.run(Self.refusing) {
            $0.storedMessagesInMemory = 1
        } _: { world, store in
            await world.connect()
            let (first, large) = (String(repeating: "f", count: 40), String(repeating: "l", count: 40))
            try await world.client.enqueue(first, to: "other")
            let old = Task { [client = world.client] in try await client.publish(large, as: Self.latest("t")) }
            await world.until { await store.memory.summary(of: world.scope).outgoingCount == 2 }
            #expect(Self.waitingCount(world) == 2)
            try await world.client.enqueue("new", as: Self.latest("t", .oneWithoutPersistenceAndRetry))
            let error = await #expect(throws: CourierError.self) { try await old.value }
            #expect(error?.code == .messageReplaced)
            await world.run(for: .seconds(1))
            await world.until { await store.memory.summary(of: world.scope).outgoingCount == 0 }
            #expect(await world.publishes().map(\.text) == [first, "new"])
        }
    }

    @Test(arguments: [false, true])
    func `a latest-only message that is sent at once replaces an older message that is only on disk`(
        isListening: Bool
    ) async throws {
        try await Self.run(Self.refusing) {
            $0.storedMessagesInMemory = 1
        } _: { world, store in
            if !isListening { world.test.stopListening() }
            await world.connect()
            let (first, large) = (String(repeating: "f", count: 40), String(repeating: "l", count: 40))
            try await world.client.enqueue(first, to: "other")
            try await world.client.enqueue(large, as: Self.latest("t"))
            await world.until { Self.waitingCount(world) == 2 }
            store.holdReads()
            await world.run(for: .seconds(1))
            await world.until { store.heldReadCount == 1 }
            try await world.client.enqueue("new", as: Self.latest("t", .oneWithoutPersistenceAndRetry))
            await world.until { await world.publishes().map(\.text) == [first, "new"] }
            store.letReadsPass()
            store.releaseRead()
            await world.until { await store.memory.summary(of: world.scope).outgoingCount == 0 }
            #expect(await world.publishes().map(\.text) == [first, "new"])
        }
    }
}
