import CourierCore
import CourierTesting
import Foundation
import MQTTCodec
import Synchronization
import TestSupport
import Testing

@testable import CourierMQTT

/// Calls of `stop`, and handlers that are cancelled.
@Suite(.timeLimit(.minutes(5))) struct ProcessorStopTests {
    private typealias World = ProcessorWorld

    @Test(arguments: [true, false])
    func `if stop() is called twice while a handler runs, both calls return when the processor's name is free again`(
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
    func `if a handler stops its own processor, stop() returns at once, and the handler's message is handled once`(
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

    @Test
    func `with a waiting limit in bytes, the next processor handles the messages that are not handled before stop()`()
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
    func `handlers that start after another handler was cancelled at its timeout are not cancelled`(
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

    @Test(arguments: [true, false])
    func `shutdown() also stops a processor that pauses because too many messages are parked`(_ isStored: Bool)
        async throws
    {
        let script = World.connection(World.message(1, "a"), World.message(2, "b"), World.message(3, "c"))
        try await World.run([script], isStored: isStored) { test in
            let policy = ProcessingPolicy<String>.exact(
                waiting: ProcessingLimits(maximumCount: 2), parked: ParkingLimits(maximumCount: 1))
            let processor = try test.process(policy) { _, _ in throw Park(reason: "Broken.") }
            await test.world.connect()
            await test.world.until { processor.metrics.pauseReason != nil }
            await test.world.client.shutdown()
            await test.world.until { test.world.client.parts.processors["orders/#"] == nil }
        }
    }

    @Test
    func `if a handler begins after the time limit of stop(), the processor's name is in use until the handler ends`()
        async throws
    {
        try await World.run([World.connection(World.message(1, "a"))], isStored: false) { test in
            let processor = try #require(try test.process() as? Processor)
            // While a new worker has not begun, the processor adds no other worker.
            processor.changeState { state, _ in state.hasNewWorker = true }
            await test.world.connect()
            await test.world.until { processor.state.withLock { $0.starting.count } == 1 }
            #expect(await processor.stop(within: .zero) == 1)
            #expect(throws: CourierError.self) { try test.process() }
            processor.changeState { state, _ in state.hasNewWorker = false }
            await test.world.until { test.world.client.parts.processors["orders/#"] == nil }
        }
    }

    @Test(arguments: [false, true])
    func `without a store, the next processor handles a retried message whose handler outlasted stop()`(
        _ isDestroyed: Bool
    ) async throws {
        let gate = Gate()
        try await World.run([World.connection(World.message(1, "a"))], isStored: false) { test in
            let first = try test.process { _, context in
                // The first call parks the message. The second call begins after `retry`.
                if context.lastError == nil { throw Park(reason: "Broken.") }
                await gate.wait()
                try Task.checkCancellation()
            }
            await test.world.connect()
            await test.world.until { first.metrics.parkedCount == 1 }
            let parked = try await test.world.client.parked.messages()
            #expect(try await test.world.client.parked.retry(try #require(parked.first).id))
            await test.attempts(2)
            #expect(await first.stop(within: .zero) == 1)
            // `destroy()` ends all messages, also this one.
            if isDestroyed { test.world.client.destroy() }
            await test.world.settle()
            await gate.open()
            await test.world.until { test.world.client.parts.processors["orders/#"] == nil }
            let second = try test.process()
            if !isDestroyed { await test.world.until { second.metrics.handledCount == 1 } }
            await test.world.settle()
            #expect(test.texts == (isDestroyed ? ["a", "a"] : ["a", "a", "a"]))
            await second.stop()
        }
    }

    @Test func `if a parked message is retried while no processor runs, the next processor handles the message`()
        async throws
    {
        try await World.run([World.connection(World.message(1, "a"))], isStored: false) { test in
            let first = try test.process { _, _ in throw Park(reason: "Broken.") }
            await test.world.connect()
            await test.world.until { first.metrics.parkedCount == 1 }
            await first.stop()
            let parked = try await test.world.client.parked.messages()
            #expect(try await test.world.client.parked.retry(try #require(parked.first).id))
            let second = try test.process()
            await test.world.until { second.metrics.handledCount == 1 }
            #expect(test.texts == ["a", "a"])
            await second.stop()
        }
    }

    @Test func `a handler that cancels its own task does not cancel the next handler`() async throws {
        let script = World.connection(World.message(1, "a"), World.message(2, "b"))
        let cancelled = Noted<[String]>([])
        try await World.run([script], isStored: false) { test in
            let processor = try test.process(.exact(concurrency: 1)) { text, _ in
                if Task.isCancelled { cancelled.change { $0.append(text) } }
                withUnsafeCurrentTask { $0?.cancel() }
            }
            await test.world.connect()
            await test.world.until { processor.metrics.handledCount == 2 }
            #expect(cancelled.value.isEmpty)
            await processor.stop()
        }
    }

    @TaskLocal private static var request = ""

    @Test func `a handler does not have the task-local values of the caller that retried another message`() async throws
    {
        let script = World.connection(
            World.message(1, "a"), .serve(until: .publish(to: "more")), World.message(2, "b"))
        let found = Noted<[String]>([])
        try await World.run([script], isStored: false) { test in
            let processor = try test.process(.exact(concurrency: 1)) { text, context in
                found.change { $0.append(Self.request) }
                if text == "a", context.lastError == nil { throw Park(reason: "Broken.") }
            }
            await test.world.connect()
            await test.world.until { processor.metrics.parkedCount == 1 }
            let parked = try await test.world.client.parked.messages()
            let id = try #require(parked.first).id
            let isRetried = try await Self.$request.withValue("request 1") {
                try await test.world.client.parked.retry(id)
            }
            #expect(isRetried)
            try test.world.publish("", to: "more", qos: .zero)
            await test.world.until { processor.metrics.handledCount == 2 }
            #expect(found.value == ["", "", ""])
            await processor.stop()
        }
    }
}
