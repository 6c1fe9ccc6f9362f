import CourierCore
import CourierTesting
import CourierTransport
import MQTTCodec
import Synchronization
import TestSupport
import Testing

@testable import CourierMQTT

/// Processors that are stopped, or whose session is destroyed, while changes of the store have not ended.
@Suite(.timeLimit(.minutes(5))) struct ProcessorCommitTests {
    private typealias World = ProcessorWorld

    private static let isFull: ControlledStore.Rule = { change in
        if case .addJob = change { CourierError(.storeFull, "The disk is full.") } else { nil }
    }

    /// Starts the next processor when the name is free.
    private static func next(_ test: World) async throws -> any MessageProcessor {
        var started: (any MessageProcessor)?
        await test.world.until {
            started = started ?? (try? test.process())
            return started != nil
        }
        return try #require(started)
    }

    /// Ends the failures of the store. The next processor must handle the refused message "a".
    private static func handleRefused(_ test: World) async throws {
        test.store?.fail(nil)
        let next = try await Self.next(test)
        await test.world.until { next.metrics.handledCount == 1 }
        #expect(test.texts == ["a"])
        await test.world.until { await test.acknowledged == [1] }
        await next.stop()
    }

    @Test
    func `if a processor stops while a message is being stored, the processor's name is in use until the commit ends`()
        async throws
    {
        let script = World.connection(.pause(.seconds(1)), World.message(1, "a"))
        try await World.run([script], isStored: true) { test in
            let processor = try test.process()
            await test.world.connect()
            test.store?.hold()
            await test.wait(1)
            await test.world.until { test.store?.heldCount == 1 }
            let stopping = Task { await processor.stop(within: .seconds(1)) }
            await test.wait(1)
            #expect(await stopping.value == 0)
            #expect(throws: CourierError.self) { try test.process() }
            test.store?.release()
            let next = try await Self.next(test)
            await test.world.until { next.metrics.handledCount == 1 }
            #expect(test.texts == ["a"])
            await test.world.until { await test.jobs.isEmpty }
            await next.stop()
        }
    }

    @Test func `a message that the full store refuses is handled by the next processor with the same name`()
        async throws
    {
        try await World.run([World.connection(World.message(1, "a"))], isStored: true) { test in
            test.store?.fail(Self.isFull)
            let processor = try test.process()
            await test.world.connect()
            // The store refuses the message for ten seconds before the processor is told.
            await test.wait(12)
            await test.world.until { processor.metrics.pauseReason != nil }
            #expect(await processor.stop() == 0)
            try await Self.handleRefused(test)
        }
    }

    @Test func `a message that the store refuses after stop() is handled by the next processor with the same name`()
        async throws
    {
        let script = World.connection(.pause(.seconds(1)), World.message(1, "a"))
        try await World.run([script], isStored: true) { test in
            let processor = try test.process()
            await test.world.connect()
            test.store?.fail(Self.isFull)
            await test.wait(1)
            let stopping = Task { await processor.stop(within: .seconds(1)) }
            await test.wait(2)
            #expect(await stopping.value == 0)
            #expect(throws: CourierError.self) { try test.process() }
            await test.wait(12)
            try await Self.handleRefused(test)
        }
    }

    @Test func `destroy() discards the changes of a processor that are not passed to the store yet`() async throws {
        try await World.run([World.connection(World.message(1, "a"))], isStored: true) { test in
            let store = try #require(test.store)
            let processor = try #require(try test.process { _, _ in throw Park(reason: "Broken.") } as? Processor)
            await test.world.connect()
            await test.world.until { await test.jobs.first?.state.isParked == true }
            let id = try #require(await test.jobs.first?.message.id)
            processor.parts.loop.execute {
                // Removes the row in a later turn of the loop. By then, the next session may have a row with this id.
                _ = processor.removeParked(id)
                processor.parts.processors.sessionDestroyed()
            }
            await test.world.settle()
            #expect(!store.changes.contains(.removeJob(id)))
            #expect(processor.state.withLock { $0.isSettled })
            await processor.stop()
        }
    }

    @Test func `a parked message is handled if its processor starts while the retry is being stored`() async throws {
        try await World.run([World.connection(World.message(1, "a"))], isStored: true) { test in
            let store = try #require(test.store)
            let first = try test.process { _, _ in throw Park(reason: "Broken.") }
            await test.world.connect()
            await test.world.until { await test.jobs.first?.state.isParked == true }
            await first.stop()
            let id = try #require(await test.jobs.first?.message.id)
            await test.world.settle()
            store.hold()
            let client = test.world.client
            async let isRetried = client.parked.retry(id)
            await test.world.until { store.heldCount > 0 }
            let second = try test.process()
            await test.world.until { second.metrics.parkedCount == 1 }
            store.release()
            #expect(try await isRetried)
            await test.world.until { second.metrics.handledCount == 1 }
            #expect(test.texts == ["a", "a"])
            await test.world.until { await test.jobs.isEmpty }
            await second.stop()
        }
    }

    @Test func `a load that began before destroy() does not add its messages to the next session`() async throws {
        let scripts = [World.connection(World.message(1, "a")), World.connection(World.message(1, "b"))]
        try await World.run(scripts, isStored: true) { test in
            let store = try #require(test.store)
            let first = try test.process { _, _ in throw World.Failure() }
            await test.world.connect()
            await test.world.until { await test.jobs.map(\.state.attempts) == [1] }
            await first.stop()
            store.holdReads()
            let second = try test.process()
            await test.world.until { store.heldReadCount == 1 }
            store.letReadsPass()
            test.world.client.destroy()
            await test.world.settle()
            await test.world.connect()
            await test.world.until { second.metrics.handledCount == 1 }
            store.releaseRead()
            await test.wait(2)
            #expect(test.texts == ["a", "b"])
            #expect(second.metrics.handledCount == 1 && second.metrics.waitingCount == 0)
            await second.stop()
        }
    }
}
