import CourierCore
import CourierTesting
import CourierTransport
import Foundation
import MQTTCodec
import TestSupport
import Testing

@testable import CourierMQTT

/// Processors that load the messages of an earlier process, and QoS 2 messages that are stored late.
@Suite(.timeLimit(.minutes(5))) struct ProcessorLoadTests {
    private typealias World = ProcessorWorld

    /// Parks the message "a" in the store, and returns its id.
    private static func parked(_ test: World) async throws -> StoredMessage.ID {
        let processor = try test.process { _, _ in throw Park(reason: "Broken.") }
        await test.world.connect()
        await test.world.until { (try? await test.world.client.parked.messages().count) == 1 }
        await processor.stop()
        return try #require(await test.jobs.first?.message.id)
    }

    /// Starts a processor whose load waits.
    private static func loading(_ test: World) async throws -> any MessageProcessor {
        test.store?.holdReads()
        let processor = try test.process()
        await test.world.until { test.store?.heldReadCount == 1 }
        test.store?.letReadsPass()
        return processor
    }

    @Test
    func `if a parked message is retried while the processor loads messages, the message is handled after the load`()
        async throws
    {
        try await World.run([World.connection(World.message(1, "a"))], isStored: true) { test in
            let id = try await Self.parked(test)
            let processor = try await Self.loading(test)
            async let isRetried = test.world.client.parked.retry(id)
            await test.world.settle()
            #expect(processor.metrics.parkedCount == 0)
            test.store?.releaseRead()
            #expect(try await isRetried)
            await test.world.until { processor.metrics.handledCount == 1 }
            #expect(test.texts == ["a", "a"])
            await test.world.until { await test.jobs.isEmpty }
            await processor.stop()
        }
    }

    @Test
    func `if a parked message is removed while the processor loads messages, the message is removed after the load`()
        async throws
    {
        try await World.run([World.connection(World.message(1, "a"))], isStored: true) { test in
            let id = try await Self.parked(test)
            let processor = try await Self.loading(test)
            async let isRemoved = test.world.client.parked.remove(id)
            await test.world.settle()
            test.store?.releaseRead()
            #expect(try await isRemoved)
            await test.world.until { await test.jobs.isEmpty }
            #expect(processor.metrics.parkedCount == 0)
            await processor.stop()
        }
    }

    @Test func `if a processor is stopped while it loads stored messages, the retry of a parked message is stored`()
        async throws
    {
        try await World.run([World.connection(World.message(1, "a"))], isStored: true) { test in
            let id = try await Self.parked(test)
            let processor = try await Self.loading(test)
            async let isRetried = test.world.client.parked.retry(id)
            await test.world.settle()
            await processor.stop()
            #expect(try await isRetried)
            #expect(await test.jobs.map(\.state.isParked) == [false])
            test.store?.releaseRead()
        }
    }

    /// Adds jobs with the payloads 1 to `count` to the store of the test.
    private static func addJobs(_ count: UInt64, to test: World) throws -> ControlledStore {
        let store = try #require(test.store)
        let rows = (1...count).map { number in
            StoredMessage(
                id: StoredMessage.ID(rawValue: number), topic: "orders/1", payload: Array("\(number)".utf8),
                qos: .one, storedAt: Date())
        }
        let state = StoredJob.State(processor: "orders/#", stage: .waiting(.zero, since: .now))
        store.memory.commit(rows.map { .addJob(StoredJob($0, state)) }, in: test.world.scope) { _ in }
        return store
    }

    @Test func `if the load of 1,200 stored messages begins twice, each message is handled once`() async throws {
        try await World.run([World.connection()], isStored: true) { test in
            let store = try Self.addJobs(1_200, to: test)
            await test.world.connect()
            store.failJobRead(2)
            let processor = try #require(try test.process() as? Processor)
            await test.world.until { store.jobReadCount == 2 }
            processor.parts.loop.execute { processor.load(test.world.scope) }
            await test.wait(1)
            await test.world.until { await test.jobs.isEmpty }
            #expect(test.texts == (1...1_200).map { "\($0)" })
            await processor.stop()
        }
    }

    @Test func `a processor that is stopped while the store cannot be read does not read again`() async throws {
        try await World.run([World.connection()], isStored: true) { test in
            let store = try Self.addJobs(1, to: test)
            await test.world.connect()
            store.failJobRead(1)
            let processor = try test.process()
            await test.world.until { store.jobReadCount == 1 }
            await processor.stop()
            await test.wait(5)
            #expect(store.jobReadCount == 1)
        }
    }

    @Test
    func
        `if one read of 1,200 stored messages fails, a processor loads the rest and handles each message once in order`()
        async throws
    {
        try await World.run([World.connection()], isStored: true) { test in
            let store = try Self.addJobs(1_200, to: test)
            await test.world.connect()
            store.failJobRead(2)
            let processor = try test.process()
            await test.world.until { store.jobReadCount == 2 }
            // No handler starts before all messages are loaded.
            #expect(processor.metrics.waitingCount == 500 && test.texts.isEmpty)
            await test.wait(1)
            await test.world.until { processor.metrics.handledCount == 1_200 }
            #expect(test.texts == (1...1_200).map { "\($0)" })
            await test.world.until { await test.jobs.isEmpty }
            await processor.stop()
        }
    }

    @Test(arguments: [true, false])
    func `a QoS 2 message whose connection ends before it is stored is handled once`(
        _ isSessionPresent: Bool
    ) async throws {
        let script: [ConnectionScript] = [
            World.connection(World.message(1, "a", qos: .two), .serve(until: .publish(to: "cut")), .cut(.reset)),
            isSessionPresent
                ? .connection([.accept(isSessionPresent: true), World.message(1, "a", qos: .two, again: true)])
                : World.connection(),
        ]
        try await World.run(script, isStored: true) { test in
            let store = try #require(test.store)
            store.fail { if case .addJob = $0 { CourierError(.storeFull, "The disk is full.") } else { nil } }
            let processor = try test.process()
            await test.world.connect()
            // The store is full for so long that the processor itself must store the message again.
            await test.wait(12)
            await test.world.until { processor.metrics.pauseReason != nil }
            try test.world.publish("", to: "cut", qos: .zero)
            await test.wait(3)
            #expect(test.texts.isEmpty)
            store.fail(nil)
            await test.wait(2)
            await test.world.until { processor.metrics.handledCount == 1 }
            await test.world.until { await test.jobs.isEmpty }
            await test.world.settle()
            #expect(test.texts == ["a"])
            // In a resumed session, the packet id is stored with the message. So a repetition after a crash is
            // recognized. A new session has no repetition.
            #expect(store.changes.contains(.rememberPacketID(1)) == isSessionPresent)
            #expect(await test.acknowledged == (isSessionPresent ? [1] : []))
            await processor.stop()
        }
    }
}
