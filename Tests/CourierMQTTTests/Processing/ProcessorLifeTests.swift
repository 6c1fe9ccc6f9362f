import CourierCore
import CourierTesting
import Foundation
import MQTTCodec
import Synchronization
import TestSupport
import Testing

@testable import CourierMQTT

/// The start and the end of processors, and their limits.
@Suite(.timeLimit(.minutes(5))) struct ProcessorLifeTests {
    private typealias World = ProcessorWorld

    @Test func `a processor handles the messages of an earlier process with the same processor name, in order`()
        async throws
    {
        let store = ControlledStore()
        let script = World.connection(World.message(1, "a"), World.message(2, "b", to: "orders/2"))
        try await World.run([script], isStored: true, store: store) { test in
            let processor = try test.process(.exact(concurrency: 1, order: .none)) { _, _ in throw World.Failure() }
            await test.world.connect()
            await test.attempts(2)
            await test.world.until { await test.jobs.map(\.state.attempts) == [1, 1] }
            await processor.stop()
            #expect(await test.jobs.count == 2)

            let next = try test.process(.exact(concurrency: 1, order: .none))
            await test.wait(1)
            await test.attempts(4)
            await test.world.until { next.metrics.handledCount == 2 }
            #expect(test.texts == ["a", "b", "a", "b"])
            #expect(test.all.map(\.number) == [1, 1, 2, 2])
            await next.stop()
        }
    }

    @Test(arguments: [true, false])
    func `stop() waits for the running handler, and no other handler starts`(
        _ isStored: Bool
    ) async throws {
        let script = World.connection(World.message(1, "a"), World.message(2, "b"))
        let gate = Gate()
        try await World.run([script], isStored: isStored) { test in
            let processor = try test.process { _, _ in await gate.wait() }
            await test.world.connect()
            await test.attempts(1)
            await test.world.until { processor.metrics.waitingCount == 1 }
            async let left = processor.stop(within: .seconds(30))
            await test.world.settle()
            await gate.open()
            #expect(await left == 0)
            #expect(test.texts == ["a"])
            #expect(processor.metrics.handledCount == 1)
            if isStored { #expect(await test.jobs.map(\.message.payload) == [Array("b".utf8)]) }
        }
    }

    @Test(arguments: [true, false])
    func `a handler that still runs at the time limit of stop() is cancelled, and its message is handled again`(
        _ isStored: Bool
    ) async throws {
        let gate = Gate()
        try await World.run([World.connection(World.message(1, "a"))], isStored: isStored) { test in
            let processor = try test.process { _, _ in
                await gate.wait()
                try Task.checkCancellation()
            }
            await test.world.connect()
            await test.attempts(1)
            let stopping = Task { await processor.stop(within: .seconds(5)) }
            await test.wait(6)
            #expect(await stopping.value == 1)
            // The name is in use until the handler has returned, so that no handler gets the message meanwhile.
            #expect(throws: CourierError.self) { try test.process() }
            await gate.open()
            var started: (any MessageProcessor)?
            await test.world.until {
                started = started ?? (try? test.process())
                return started != nil
            }
            let next = try #require(started)
            await test.attempts(2)
            await test.world.until { next.metrics.handledCount == 1 }
            #expect(test.all.map(\.number) == [1, 1])
            await next.stop()
        }
    }

    @Test func `a second processor with the same name is refused, and the error contains the name`()
        async throws
    {
        try await World.run([World.connection()], isStored: false) { test in
            let processor = try test.process()
            let error = #expect(throws: CourierError.self) { try test.process() }
            #expect(error?.message.contains(#"A processor with the name "orders/#" runs already"#) == true)
            await processor.stop()
            let next = try test.process()
            await next.stop()
        }
    }

    @Test(arguments: [true, false])
    func `with a parking limit of 1, no handler starts after two failures until a parked message is removed`(
        _ isStored: Bool
    ) async throws {
        let script = World.connection(
            World.message(1, "a"), World.message(2, "b"), .serve(until: .publish(to: "more")), World.message(3, "c"))
        try await World.run([script], isStored: isStored) { test in
            let policy = ProcessingPolicy<String>.exact(parked: ParkingLimits(maximumCount: 1))
            let processor = try test.process(policy) { text, _ in
                if text != "c" { throw Park(reason: "Broken.") }
            }
            await test.world.connect()
            await test.attempts(2)
            await test.world.until { processor.metrics.pauseReason != nil }
            try test.world.publish("", to: "more", qos: .zero)
            await test.world.until { processor.metrics.waitingCount == 2 }
            #expect(test.texts == ["a", "b"])
            #expect(processor.metrics.pauseReason?.contains("1 parked messages") == true)
            await test.world.until { (try? await test.world.client.parked.messages().count) == 1 }
            let parked = try await test.world.client.parked.messages()
            #expect(try await test.world.client.parked.remove(parked[0].id))
            await test.attempts(3)
            await test.world.until { processor.metrics.handledCount == 1 }
            #expect(test.texts == ["a", "b", "c"])
            #expect(processor.metrics.pauseReason == nil)
            let pauses = test.world.events.filter { $0.hasPrefix("processing") }
            #expect(pauses == ["processingPaused", "processingResumed"])
            await processor.stop()
        }
    }

    @Test(arguments: [true, false])
    func `with a parking limit of 1 and removeOldest, the older of two parked messages is removed`(
        _ isStored: Bool
    ) async throws {
        let script = World.connection(World.message(1, "a"), World.message(2, "b"))
        try await World.run([script], isStored: isStored) { test in
            let limits = ParkingLimits(maximumCount: 1, overflow: .removeOldest)
            let processor = try test.process(.exact(parked: limits)) { _, _ in throw Park(reason: "Broken.") }
            await test.world.connect()
            await test.attempts(2)
            await test.world.until {
                (try? await test.world.client.parked.messages().map(\.message.payloadString)) == ["b"]
            }
            #expect(processor.metrics.parkedCount == 1)
            await processor.stop()
        }
    }

    @Test func `with a waiting limit of 2, the client acknowledges only two of four messages before a handler returns`()
        async throws
    {
        let script = World.connection(
            World.message(1, "a"), World.message(2, "b"), World.message(3, "c"), World.message(4, "d"))
        let gate = Gate()
        try await World.run([script], isStored: true) { test in
            let policy = ProcessingPolicy<String>.exact(
                concurrency: 1, waiting: ProcessingLimits(maximumCount: 2))
            let processor = try test.process(policy) { _, _ in await gate.wait() }
            await test.world.connect()
            await test.attempts(1)
            await test.world.until { await test.acknowledged == [1, 2] }
            await test.world.settle()
            #expect(await test.acknowledged == [1, 2])
            await gate.open()
            await test.world.until { processor.metrics.handledCount == 4 }
            await test.world.until { await test.acknowledged == [1, 2, 3, 4] }
            await processor.stop()
        }
    }

    @Test func `after 200 handled messages, a processor stores fewer than 100 deadlines of handlers`() async throws {
        let messages = (1...200).compactMap { PacketID(rawValue: $0).map { World.message($0, "a") } }
        let steps: [ScriptStep] = [.accept(isSessionPresent: false), .serve(until: .subscribe), .answer]
        try await World.run([.connection(steps + messages)], isStored: false) { test in
            let processor = try test.process()
            await test.world.connect()
            await test.world.until { processor.metrics.handledCount == 200 }
            let deadlines = (processor as? Processor)?.state.withLock { $0.queue.deadlines.count }
            #expect(deadlines.map { $0 < 100 } == true)
            await processor.stop()
        }
    }

    @Test(arguments: [true, false])
    func `destroy() while a handler runs discards the handler's result and the waiting messages`(
        _ isStored: Bool
    ) async throws {
        let script = World.connection(World.message(1, "a"), World.message(2, "b"))
        let gate = Gate()
        try await World.run([script], isStored: isStored) { test in
            let processor = try test.process { _, _ in await gate.wait() }
            await test.world.connect()
            await test.attempts(1)
            await test.world.until { processor.metrics.waitingCount == 1 }
            test.world.client.destroy()
            await test.world.settle()
            #expect(processor.metrics.waitingCount == 0)
            await gate.open()
            await test.world.until { processor.metrics.runningCount == 0 }
            #expect(processor.metrics.handledCount == 0)
            #expect(await test.jobs.isEmpty)
            await processor.stop()
        }
    }

    @Test(arguments: [true, false])
    func `a handler that runs at destroy() is cancelled at its timeout, and then the new session's message is handled`(
        _ isStored: Bool
    ) async throws {
        let scripts = ["a", "b"].map { World.connection(World.message(1, $0)) }
        try await World.run(scripts, isStored: isStored) { test in
            let processor = try test.process(.exact(concurrency: 1, timeout: .seconds(60))) { text, _ in
                // This sleep ends only when the handler is cancelled.
                if text == "a" { try await Task.sleep(for: .seconds(100_000)) }
            }
            await test.world.connect()
            await test.attempts(1)
            test.world.client.destroy()
            await test.world.settle()
            await test.world.connect()
            await test.wait(30)
            #expect(test.texts == ["a"])
            await test.wait(31)
            await test.world.until { processor.metrics.handledCount == 1 }
            #expect(test.texts == ["a", "b"])
            await processor.stop()
        }
    }

    @Test func `process() throws if the store cannot keep jobs, and the error names the remedy`()
        async throws
    {
        try await ScriptedWorld.run([]) {
            $0.messageStore = JoblessStore()
        } _: { world in
            let error = #expect(throws: CourierError.self) {
                try world.client.process(Message.self, from: "orders/#") { _, _ in }
            }
            #expect(error?.code == .invalidConfiguration)
            #expect(error?.message.contains("Use a SQLiteMessageStore") == true)
        }
    }
}

/// A store that has everything but jobs.
private struct JoblessStore: MessageStore {
    private let memory = MemoryMessageStore()

    func commit(
        _ changes: [StoreChange], in scope: StoreScope,
        completion: @escaping @Sendable (Result<Void, CourierError>) -> Void
    ) { memory.commit(changes, in: scope, completion: completion) }

    func summary(of scope: StoreScope) async throws -> StoreSummary { await memory.summary(of: scope) }

    func outgoing(in scope: StoreScope, after id: StoredMessage.ID?, limit: Int) async throws -> [StoredOutgoing] {
        await memory.outgoing(in: scope, after: id, limit: limit)
    }

    func incoming(
        in scope: StoreScope, matching filter: TopicFilter?, after id: StoredMessage.ID?, limit: Int
    ) async throws -> [StoredMessage] { await memory.incoming(in: scope, matching: filter, after: id, limit: limit) }

    func incomingPacketIDs(in scope: StoreScope) async throws -> Set<UInt16> {
        await memory.incomingPacketIDs(in: scope)
    }

    func subscriptions(in scope: StoreScope) async throws -> [StoredSubscription] {
        await memory.subscriptions(in: scope)
    }
}
