import CourierCore
import CourierTesting
import MQTTCodec
import Synchronization
import TestSupport
import Testing

@testable import CourierMQTT

/// `EnqueuedMessage.withdraw()` in each place where a message can wait.
@Suite(.timeLimit(.minutes(5))) struct WithdrawTests {
    private static func withdrawn(_ world: ScriptedWorld) -> [CourierError.Code] {
        world.errors(of: "messageSendFailure").map(\.code)
    }

    @Test(arguments: OutgoingSetup.all)
    func `a withdrawn message is not sent, and all other messages are sent`(_ setup: OutgoingSetup)
        async throws
    {
        try await setup.offline(OfflinePolicy()) { world in
            var messages: [EnqueuedMessage] = []
            for text in ["a", "b", "c"] {
                messages.append(
                    try await world.client.enqueue(text, to: "t", qos: .two, properties: setup.properties()))
            }
            #expect(try await messages[1].withdraw())
            #expect(try await messages[1].withdraw() == false)
            #expect(world.client.parts.publishing.queue.waitingCount == 2)
            await world.run(for: .seconds(2))
            await world.soon { await world.publishes().count == 2 }
            #expect(await world.publishes().map(\.text) == ["a", "c"])
            #expect(Self.withdrawn(world) == (setup.isListening ? [.messageWithdrawn] : []))
        }
    }

    @Test func `a waiting message can be withdrawn, but a message in flight cannot`() async throws {
        try await OutgoingSetup(isListening: true, hasStore: false, hasProperties: false).connected(OfflinePolicy()) {
            world, gate in
            var messages: [EnqueuedMessage] = []
            for number in 0...OutgoingSetup.receiveMaximum {
                messages.append(try await world.client.enqueue("\(number)", to: "t"))
            }
            await world.until { await world.publishes().count == OutgoingSetup.receiveMaximum }
            #expect(try await messages[0].withdraw() == false)
            #expect(try await messages[OutgoingSetup.receiveMaximum].withdraw())
            gate.release()
            await world.until { world.client.parts.publishing.queue.count == 0 }
            #expect(await world.publishes().count == OutgoingSetup.receiveMaximum)
            #expect(try await messages[0].withdraw() == false)
        }
    }

    @Test func `a message that was sent before its connection was lost cannot be withdrawn`() async throws {
        let script: [ConnectionScript] = [
            .connection([.accept(), .serve(until: .publish), .cut(.reset)]),
            .connection([.accept(isSessionPresent: true)]),
        ]
        try await ScriptedWorld.run(script) { world in
            await world.connect()
            let message = try await world.client.enqueue("a", to: "t")
            await world.until { world.client.connectionState != .connected }
            #expect(try await message.withdraw() == false)
            await world.run(for: .seconds(2))
            #expect(await world.publishes(on: 2).map(\.text) == ["a"])
        }
    }

    @Test(arguments: [true, false])
    func `withdraw() removes the message from the store before it returns`(isInMemory: Bool) async throws {
        let store = ControlledStore()
        let setup = OutgoingSetup(isListening: true, hasStore: true, hasProperties: false)
        try await setup.offline(OfflinePolicy(), store: store) { world in
            let memoryCount = world.client.parts.publishing.queue.state.withLock { $0.rows.memoryCount }
            // Messages behind those that have room in memory are on disk only.
            let count = isInMemory ? 1 : memoryCount + 1
            for _ in 1..<count { try world.client.publish(text: "", to: "t") }
            let message = try await world.client.enqueue("last", to: "t")
            #expect(await store.memory.summary(of: world.scope).outgoingCount == count)
            #expect(try await message.withdraw())
            #expect(await store.memory.summary(of: world.scope).outgoingCount == count - 1)
        }
    }

    @Test func `if the store fails, withdraw() waits until the message is removed from the store`() async throws {
        let store = ControlledStore()
        let setup = OutgoingSetup(isListening: true, hasStore: true, hasProperties: false)
        try await setup.offline(OfflinePolicy(), store: store) { world in
            let message = try await world.client.enqueue("a", to: "t")
            store.fail { _ in CourierError(.storeFailed, "The disk is gone.") }
            let outcome = Box<Bool>()
            let task = Task { outcome.value = try await message.withdraw() }
            await world.until { Self.withdrawn(world) == [.messageWithdrawn] }
            await world.settle()
            #expect(outcome.value == nil)
            store.fail { _ in nil }
            await world.run(for: StoreCommitQueue.retryInterval)
            await world.until { outcome.value == true }
            try await task.value
            #expect(await store.memory.summary(of: world.scope).outgoingCount == 0)
            await world.run(for: .seconds(3))
            #expect(await world.publishes().isEmpty)
        }
    }

    @Test func `a withdrawn message makes room for a waiting caller`() async throws {
        let policy = OfflinePolicy(maximumCount: 1, overflow: .suspend(timeout: .seconds(60)))
        try await OutgoingSetup(isListening: true, hasStore: false, hasProperties: false).offline(policy) { world in
            let first = try await world.client.enqueue("a", to: "t")
            let second = Task { [client = world.client] in try await client.enqueue("b", to: "t") }
            await world.until { world.client.waitingCount == 1 }
            #expect(try await first.withdraw())
            _ = try await second.value
            await world.run(for: .seconds(2))
            #expect(await world.publishes().map(\.text) == ["b"])
        }
    }

    @Test func `a latest-only message can be withdrawn, and the next message to its topic is sent`() async throws {
        try await OutgoingSetup(isListening: true, hasStore: false, hasProperties: false).offline(OfflinePolicy()) {
            world in
            let request = PublishRequest(topic: TopicTemplate(exactly: "t"), qos: .one, isLatestOnly: true)
            let first = try await world.client.enqueue("a", as: request)
            #expect(try await first.withdraw())
            try await world.client.enqueue("b", as: request)
            #expect(try await first.withdraw() == false)
            await world.run(for: .seconds(2))
            #expect(await world.publishes().map(\.text) == ["b"])
        }
    }

    @Test func `withdraw() returns false after destroy()`() async throws {
        try await OutgoingSetup(isListening: true, hasStore: true, hasProperties: false).offline(OfflinePolicy()) {
            world in
            let message = try await world.client.enqueue("a", to: "t")
            world.client.destroy()
            #expect(try await message.withdraw() == false)
        }
    }

    @Test func `a QoS 0 message that waits for a connection can be withdrawn`() async throws {
        let policy = OfflinePolicy(queuesQoS0: true)
        try await OutgoingSetup(isListening: true, hasStore: false, hasProperties: false).offline(policy) { world in
            let message = try await world.client.enqueue("a", to: "t", qos: .zero)
            #expect(try await message.withdraw())
            await world.run(for: .seconds(2))
            #expect(await world.publishes().isEmpty)
        }
    }
}
