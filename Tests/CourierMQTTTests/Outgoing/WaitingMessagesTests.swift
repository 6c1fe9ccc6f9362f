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
}
