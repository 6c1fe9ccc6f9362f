import CourierCore
import CourierTesting
import Foundation
import MQTTCodec
import TestSupport
import Testing

@testable import CourierMQTT

/// Calls of `stop`, and handlers that are cancelled.
@Suite(.timeLimit(.minutes(5))) struct ProcessorStopTests {
    private typealias World = ProcessorWorld

    @Test(arguments: [true, false])
    func `two calls of stop, a handler runs, both return when the name of the processor is free again`(
        _ isStored: Bool
    ) async throws {
        let gate = Gate()
        try await World.run([World.connection(World.message(1, "a"))], isStored: isStored) { test in
            let processor = try test.process { _, _ in await gate.wait() }
            await test.world.connect()
            await test.attempts(1)
            async let first = processor.stop()
            async let second = processor.stop()
            await test.world.settle()
            await gate.open()
            // Whichever call returns first, another processor can start.
            #expect(await second == 0)
            let next = try test.process()
            #expect(await first == 0)
            #expect(processor.metrics.handledCount == 1)
            #expect(await processor.stop() == 0)
            await next.stop()
        }
    }

    @Test(arguments: [true, false])
    func `a handler stops its own processor, the call returns at once, the message of the handler is handled once`(
        _ isStored: Bool
    ) async throws {
        let script = World.connection(World.message(1, "a"), World.message(2, "b"))
        let own = Noted<(any MessageProcessor)?>(nil)
        try await World.run([script], isStored: isStored) { test in
            let processor = try test.process(.exact(concurrency: 1)) { _, _ in
                let stopping = own.value
                #expect(await stopping?.stop() == 0)
                #expect(stopping?.metrics.runningCount == 1)
            }
            own.change { $0 = processor }
            await test.world.connect()
            await test.attempts(1)
            var started: (any MessageProcessor)?
            await test.world.until {
                started = started ?? (try? test.process())
                return started != nil
            }
            let next = try #require(started)
            await test.attempts(2)
            await test.world.until { next.metrics.handledCount == 1 }
            #expect(processor.metrics.handledCount == 1)
            #expect(test.texts == ["a", "b"])
            await test.world.until { await test.acknowledged == [1, 2] }
            own.change { $0 = nil }
            await next.stop()
        }
    }

    @Test func `a waiting limit in bytes, messages arrive together, stop leaves the messages that were not taken`()
        async throws
    {
        let texts = ["a", "b", "c", "d", "e"]
        let messages = texts.indices.compactMap { index in
            PacketID(rawValue: UInt16(index + 1)).map { World.message($0, texts[index]) }
        }
        let gate = Gate()
        let steps: [ScriptStep] = [.accept(isSessionPresent: false), .serve(until: .subscribe), .answer]
        try await World.run([.connection(steps + messages)], isStored: false) { test in
            let limits = ProcessingLimits(maximumBytes: 1)
            let processor = try test.process(.exact(waiting: limits)) { _, _ in await gate.wait() }
            await test.world.connect()
            await test.attempts(1)
            await test.world.settle()
            #expect(processor.metrics.waitingCount == 0 && processor.metrics.runningCount == 1)
            async let left = processor.stop()
            await test.world.settle()
            await gate.open()
            #expect(await left == 0)
            let next = try test.process()
            await test.world.until { next.metrics.handledCount == 4 }
            #expect(test.texts == texts)
            await test.world.until { await test.acknowledged == [1, 2, 3, 4, 5] }
            await next.stop()
        }
    }

    @Test(arguments: [true, false])
    func `a handler is cancelled after its timeout, later handlers start, they are not cancelled`(
        _ isStored: Bool
    ) async throws {
        let script = World.connection(World.message(1, "a"), World.message(2, "b"), World.message(3, "c"))
        let gate = Gate()
        let areCancelled = Noted<[Bool]>([])
        try await World.run([script], isStored: isStored) { test in
            let policy = ProcessingPolicy<String>.exact(concurrency: 1, order: .none, timeout: .seconds(10))
            let processor = try test.process(policy) { _, context in
                if context.attempt == 1 { await gate.wait() }
                areCancelled.change { $0.append(Task.isCancelled) }
                try Task.checkCancellation()
            }
            await test.world.connect()
            await test.attempts(1)
            await test.wait(11)
            await gate.open()
            await test.world.until { processor.metrics.runningCount == 0 }
            await test.wait(2)
            await test.world.until { processor.metrics.handledCount == 3 }
            #expect(areCancelled.value == [true, false, false, false])
            #expect(processor.metrics.retriedCount == 1)
            await processor.stop()
        }
    }
}
