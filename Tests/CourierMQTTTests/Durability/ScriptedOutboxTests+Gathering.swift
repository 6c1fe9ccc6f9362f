import CourierCore
import CourierTransport
import TestSupport
import Testing

@testable import CourierMQTT

/// How the store gathers the messages of several callers for one commit.
extension ScriptedOutboxTests {
    /// Enqueues each text in its own task. Returns when all messages wait.
    private static func enqueue(_ texts: [String], _ world: ScriptedWorld) async -> Task<Void, any Error> {
        let before = world.client.waitingCount
        let callers = Task { [client = world.client] in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for text in texts { group.addTask { try await client.enqueue(text, to: "t") } }
                try await group.waitForAll()
            }
        }
        await world.until { world.client.waitingCount == before + texts.count }
        return callers
    }

    @Test func `enqueue() returns when its message is stored, before the next messages are committed`() async throws {
        try await Self.run(Self.refusing) { world, store in
            await world.connect()
            store.hold()
            let first = await Self.enqueue(["a"], world)
            await world.until { store.heldCount == 1 }
            let others = await Self.enqueue(["b", "c"], world)
            let waiting = Box<[Int]>()
            store.fail { change in
                if change.isEnqueue { waiting.value = (waiting.value ?? []) + [world.client.waitingCount] }
                return nil
            }
            store.release()
            try await first.value
            try await others.value
            #expect(store.messageCounts == [1, 2])
            // The call of the first caller returned before the commit of the other callers. Otherwise, that commit
            // would include the next message of the first caller.
            #expect(waiting.value == [3, 2, 2])
        }
    }

    @Test func `a QoS 0 message is sent after the stored message that the same caller enqueued before`()
        async throws
    {
        try await Self.run { world, store in
            await Self.connect(world, store)
            await world.until { world.client.connectionState == .connected }
            let texts = (0..<3_000).map { "\($0)" }
            for text in texts {
                try await world.client.enqueue(text, to: "t")
                try await world.client.publish(text + " passes", to: "t", qos: .zero)
            }
            await world.until { await world.publishes().count == 6_000 }
            #expect(await world.publishes().map(\.text) == texts.flatMap { [$0, $0 + " passes"] })
        }
    }

    @Test
    func `if a commit waits for messages of other callers, the wait ends after 1 ms even without another message`()
        async throws
    {
        try await Self.run(Self.refusing) { world, store in
            await world.connect()
            let outgoing = try #require(world.client.parts.coordinator.durable).outgoing
            #expect(outgoing.queue.gather(2))
            let caller = await Self.enqueue(["a"], world)
            world.loop.execute { outgoing.commitNext() }
            await world.settle()
            #expect(store.messageCounts.isEmpty)
            world.loop.execute { outgoing.limitGathering() }
            await world.run(for: OutgoingStore.gatheringTime)
            try await caller.value
            #expect(store.messageCounts == [1])
        }
    }
}
