import CourierCore
import CourierTransport
import Dispatch
import TestSupport
import Testing

@testable import CourierMQTT

/// Callers who wait only for the store, and what they bring next.
extension ScriptedOutboxTests {
    private static func arrivals(of world: ScriptedWorld) throws -> OutboxArrivals {
        try #require(world.client.parts.coordinator.durable).outbox.arrivals
    }

    /// Hands messages over, each for itself, and returns when all of them wait. Without the loop, which may be busy.
    private static func enqueue(_ texts: [String], _ world: ScriptedWorld) async -> Task<Void, any Error> {
        let before = world.client.waitingCount
        let callers = Task { [client = world.client] in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for text in texts { group.addTask { try await client.enqueue(text, to: "t") } }
                try await group.waitForAll()
            }
        }
        let end = ContinuousClock.now + .patience
        while world.client.waitingCount < before + texts.count, ContinuousClock.now < end { await Task.yield() }
        return callers
    }

    @Test func `what waits is stored when callers bring nothing more`() async throws {
        try await Self.run(Self.refusing) { world, store in
            await world.connect()
            store.hold()
            let first = await Self.enqueue(["a"], world)
            await world.until { store.heldCount == 1 }
            let others = await Self.enqueue(["b", "c"], world)
            store.release()
            try await first.value
            try await others.value
            #expect(store.messageCounts == [1, 2])
        }
    }

    @Test func `callers are told while the loop is busy, and what they bring then is one commit`() async throws {
        try await Self.run(Self.refusing) { world, store in
            await world.connect()
            store.hold()
            let first = await Self.enqueue(["a"], world)
            await world.until { store.heldCount == 1 }
            let both = await Self.enqueue(["b", "c"], world)
            store.release(holdingNext: true)
            try await first.value
            await world.until { store.messageCounts == [1] && store.heldCount == 1 }
            let mayGoOn = DispatchSemaphore(value: 0)
            world.loop.execute { mayGoOn.wait() }
            store.release()
            try await both.value
            let next = await Self.enqueue(["d", "e"], world)
            mayGoOn.signal()
            try await next.value
            #expect(store.messageCounts == [1, 2, 2])
        }
    }

    @Test func `what waits for callers who are slow is stored after a millisecond`() async throws {
        try await Self.run(Self.refusing) { world, store in
            await world.connect()
            let arrivals = try Self.arrivals(of: world)
            arrivals.gather(2, ofSession: 0)
            let caller = await Self.enqueue(["a"], world)
            await world.settle()
            #expect(store.messageCounts.isEmpty)
            // As at the end of a commit, from when on the limit counts.
            world.loop.execute { world.client.parts.coordinator.durable?.outbox.storeArrivals() }
            await world.settle()
            #expect(store.messageCounts.isEmpty)
            await world.run(for: DurableOutbox.gatheringTime)
            try await caller.value
            #expect(store.messageCounts == [1])
        }
    }
}
