import CourierCore
import CourierTesting
import Foundation
import MQTTCodec
import TestSupport
import Testing

@testable import CourierMQTT

/// Processors: messages that a handler handles, with and without a message store.
@Suite(.timeLimit(.minutes(5))) struct ProcessorTests {
    private typealias World = ProcessorWorld
    private static let message = ProcessorWorld.message

    @Test(arguments: [true, false], [QoS.one, .two])
    func `a processor handles and acknowledges an arriving message`(
        _ isStored: Bool, _ qos: QoS
    ) async throws {
        try await World.run([World.connection(World.message(1, "a", qos: qos))], isStored: isStored) { test in
            let processor = try test.process()
            await test.world.connect()
            await test.attempts(1)
            await test.world.until { await test.acknowledged == [1] }
            await test.world.until { processor.metrics.waitingCount == 0 }
            #expect(test.texts == ["a"])
            await test.world.until { await test.jobs.isEmpty }
            #expect(processor.metrics.handledCount == 1)
            await processor.stop()
        }
    }

    @Test func `if the store fails, a processor acknowledges a message only after the message is stored`()
        async throws
    {
        try await World.run([World.connection(World.message(1, "a", qos: .two))], isStored: true) { test in
            test.store?.fail { if case .addJob = $0 { CourierError(.storeFailed, "Not yet.") } else { nil } }
            let processor = try test.process()
            await test.world.connect()
            await test.world.until { test.world.events.contains("messageStoreFailure") }
            #expect(await test.acknowledged.isEmpty)
            #expect(test.texts.isEmpty)
            test.store?.fail(nil)
            await test.wait(2)
            await test.attempts(1)
            await test.world.until { await test.acknowledged == [1] }
            #expect(test.store?.changes.contains(.rememberPacketID(1)) == true)
            await processor.stop()
        }
    }

    @Test(arguments: [true, false])
    func `if the handler throws twice, the next attempts follow after 1 s and 2 s`(_ isStored: Bool) async throws {
        try await World.run([World.connection(World.message(1, "a"))], isStored: isStored) { test in
            let processor = try test.process { _, context in
                if context.attempt < 3 { throw World.Failure() }
            }
            await test.world.connect()
            await test.attempts(1)
            await test.world.until { processor.metrics.runningCount == 0 }
            await test.world.run(for: .seconds(1))
            await test.attempts(2)
            await test.world.until { processor.metrics.runningCount == 0 }
            await test.world.run(for: .seconds(2))
            await test.attempts(3)
            await test.world.until { processor.metrics.handledCount == 1 }
            #expect(test.pauses == .seconds(0, 1, 3))
            #expect(test.all.map(\.number) == [1, 2, 3])
            #expect(test.all[0].lastError == nil)
            #expect(test.all[1].lastError?.contains("The payment provider did not answer") == true)
            #expect(test.world.events.filter { $0 == "messageProcessingFailure" }.count == 2)
            await test.world.until { await test.acknowledged == [1] }
            await processor.stop()
        }
    }

    @Test(arguments: [true, false])
    func `if the last attempt fails, the message is parked and can be retried`(_ isStored: Bool) async throws {
        let isBroken = Noted(true)
        try await World.run([World.connection(World.message(1, "a"))], isStored: isStored) { test in
            let processor = try test.process(.exact(attempts: 2)) { _, _ in
                if isBroken.value { throw World.Failure() }
            }
            await test.world.connect()
            await test.attempts(1)
            await test.world.until { processor.metrics.runningCount == 0 }
            await test.world.run(for: .seconds(1))
            await test.attempts(2)
            await test.world.until { processor.metrics.parkedCount == 1 }
            await test.world.until { await test.acknowledged == [1] }
            await test.world.until { (try? await test.world.client.parked.messages().count) == 1 }
            let parked = try await test.world.client.parked.messages()
            #expect(parked.map(\.message.payloadString) == ["a"])
            #expect(parked.map(\.attempts) == [2])
            #expect(parked.map(\.processor) == ["orders/#"])
            #expect(parked[0].reason.contains("The payment provider did not answer"))
            #expect(test.world.events.contains("messageParked"))

            isBroken.change { $0 = false }
            #expect(try await test.world.client.parked.retry(parked[0].id))
            await test.attempts(3)
            await test.world.until { processor.metrics.handledCount == 1 }
            #expect(test.all[2].number == 1)
            #expect(try await test.world.client.parked.messages().isEmpty)
            await test.world.until { await test.jobs.isEmpty }
            await processor.stop()
        }
    }

    @Test(arguments: [true, false])
    func `if the handler throws Park, the message is parked after one attempt and can be removed`(
        _ isStored: Bool
    ) async throws {
        try await World.run([World.connection(World.message(1, "a"))], isStored: isStored) { test in
            let processor = try test.process { _, _ in throw Park(reason: "The order has no items.") }
            await test.world.connect()
            await test.world.until { processor.metrics.parkedCount == 1 }
            await test.world.until { (try? await test.world.client.parked.messages().count) == 1 }
            let parked = try await test.world.client.parked.messages()
            #expect(parked.map(\.reason) == ["The order has no items."])
            #expect(try await test.world.client.parked.remove(parked[0].id))
            #expect(try await !test.world.client.parked.remove(StoredMessage.ID(rawValue: 4_711)))
            await test.world.until { (try? await test.world.client.parked.messages().isEmpty) == true }
            #expect(processor.metrics.parkedCount == 0)
            await processor.stop()
        }
    }

    @Test(arguments: [true, false])
    func `if the handler throws Retry, the next attempt follows after the pause that Retry contains`(
        _ isStored: Bool
    ) async throws {
        try await World.run([World.connection(World.message(1, "a"))], isStored: isStored) { test in
            let processor = try test.process(.exact(attempts: 1)) { _, context in
                if context.attempt == 1 { throw Retry(after: .seconds(30)) }
            }
            await test.world.connect()
            await test.attempts(1)
            await test.world.until { processor.metrics.runningCount == 0 }
            await test.world.run(for: .seconds(29))
            #expect(test.texts == ["a"])
            await test.world.run(for: .seconds(1))
            await test.attempts(2)
            await test.world.until { processor.metrics.handledCount == 1 }
            #expect(processor.metrics.parkedCount == 0)
            await processor.stop()
        }
    }

    @Test(arguments: [true, false])
    func `a processor of Int values parks a message that is not a number, without calling the handler`(
        _ isStored: Bool
    ) async throws {
        let script = World.connection(World.message(1, "none"), World.message(2, "7"))
        let numbers = Noted<[Int]>([])
        try await World.run([script], isStored: isStored) { test in
            let policy = ProcessingPolicy<Int>(order: .by(\.self))
            let processor = try test.world.client.process(Int.self, from: "orders/#", policy: policy) { number, _ in
                numbers.change { $0.append(number) }
            }
            await test.world.connect()
            await test.world.until { numbers.value == [7] && processor.metrics.parkedCount == 1 }
            await test.world.until { (try? await test.world.client.parked.messages().count) == 1 }
            let parked = try await test.world.client.parked.messages()
            #expect(parked.map(\.message.payloadString) == ["none"])
            #expect(parked.map(\.attempts) == [0])
            await test.world.until { Set(await test.acknowledged) == [1, 2] }
            await processor.stop()
        }
    }

    @Test(arguments: [true, false])
    func `with order by topic, only later messages of the same topic wait for the next attempt of a message`(
        _ isStored: Bool
    ) async throws {
        let script = World.connection(
            World.message(1, "a1", to: "orders/a"), World.message(2, "a2", to: "orders/a"),
            World.message(3, "b1", to: "orders/b"))
        try await World.run([script], isStored: isStored) { test in
            let processor = try test.process { text, context in
                if text == "a1", context.attempt == 1 { throw World.Failure() }
            }
            await test.world.connect()
            await test.attempts(2)
            await test.world.until { processor.metrics.handledCount == 1 && processor.metrics.runningCount == 0 }
            #expect(Set(test.texts) == ["a1", "b1"])
            await test.world.run(for: .seconds(1))
            await test.attempts(4)
            #expect(test.texts.suffix(2) == ["a1", "a2"])
            await test.world.until { processor.metrics.handledCount == 3 }
            await processor.stop()
        }
    }

    @Test(arguments: [true, false])
    func `with a concurrency of 2, at most two handlers run at the same time`(_ isStored: Bool) async throws {
        let script = World.connection(World.message(1, "a"), World.message(2, "b"), World.message(3, "c"))
        let gate = Gate()
        try await World.run([script], isStored: isStored) { test in
            let processor = try test.process(.exact(concurrency: 2, order: .none)) { _, _ in await gate.wait() }
            await test.world.connect()
            await test.attempts(2)
            await test.world.until { processor.metrics.waitingCount == 1 }
            #expect(processor.metrics.runningCount == 2)
            await gate.open()
            await test.attempts(3)
            await test.world.until { processor.metrics.handledCount == 3 }
            await processor.stop()
        }
    }

    @Test(arguments: [true, false])
    func `a handler is cancelled at its timeout, and the next attempt follows after the handler returned`(
        _ isStored: Bool
    ) async throws {
        let gate = Gate()
        try await World.run([World.connection(World.message(1, "a"))], isStored: isStored) { test in
            let processor = try test.process(.exact(timeout: .seconds(10))) { _, context in
                guard context.attempt == 1 else { return }
                await gate.wait()
                try Task.checkCancellation()
            }
            await test.world.connect()
            await test.attempts(1)
            await test.wait(20)
            #expect(test.texts.count == 1)
            await gate.open()
            await test.world.until { processor.metrics.runningCount == 0 }
            await test.wait(1)
            await test.attempts(2)
            await test.world.until { processor.metrics.handledCount == 1 }
            #expect(test.all[1].lastError?.contains("longer than 10.0 seconds") == true)
            await processor.stop()
        }
    }

    @Test(arguments: [true, false])
    func `with deduplication by key, a copy of a handled message is acknowledged and not handled again`(
        _ isStored: Bool
    ) async throws {
        let script = World.connection(
            World.message(1, "a"), .serve(until: .publish(to: "more")), World.message(2, "a"), World.message(3, "b"))
        try await World.run([script], isStored: isStored) { test in
            let processor = try test.process(.exact(deduplicate: .by(\.self, for: .seconds(3_600))))
            await test.world.connect()
            await test.world.until { processor.metrics.handledCount == 1 }
            try test.world.publish("", to: "more", qos: .zero)
            await test.world.until { processor.metrics.handledCount == 2 }
            await test.world.until { await test.acknowledged == [1, 2, 3] }
            #expect(test.texts == ["a", "b"])
            await processor.stop()
        }
    }

    @Test func `without a store, a message that the broker repeats after a lost connection is handled once`()
        async throws
    {
        let script: [ConnectionScript] = [
            World.connection(
                World.message(1, "a"), .serve(until: .publish(to: "cut")), .cut(.reset)),
            .connection([.accept(isSessionPresent: true), World.message(1, "a", again: true)]),
        ]
        let gate = Gate()
        try await World.run(script, isStored: false) { test in
            let processor = try test.process { _, _ in await gate.wait() }
            await test.world.connect()
            await test.attempts(1)
            try test.world.publish("", to: "cut", qos: .zero)
            await test.world.run(for: .seconds(2))
            await gate.open()
            await test.world.until { processor.metrics.handledCount == 1 }
            await test.world.until { await test.acknowledged == [1] }
            #expect(test.texts == ["a"])
            #expect(processor.metrics.waitingCount == 0)
            await processor.stop()
        }
    }

    @Test func `without a store, a message that was handled offline is acknowledged when the broker repeats it`()
        async throws
    {
        let script: [ConnectionScript] = [
            World.connection(
                World.message(1, "a"), .serve(until: .publish(to: "cut")), .cut(.reset)),
            .connection([
                .accept(isSessionPresent: true), .serve(until: .publish(to: "go")), World.message(1, "a", again: true),
                World.message(2, "b"),
            ]),
        ]
        let gate = Gate()
        try await World.run(script, isStored: false) { test in
            let processor = try test.process { _, _ in await gate.wait() }
            await test.world.connect()
            await test.attempts(1)
            try test.world.publish("", to: "cut", qos: .zero)
            await test.world.run(for: .milliseconds(500))
            await gate.open()
            await test.world.until { processor.metrics.handledCount == 1 }
            await test.world.run(for: .seconds(1))
            try test.world.publish("", to: "go", qos: .zero)
            await test.world.until { processor.metrics.handledCount == 2 }
            await test.world.until { await test.acknowledged == [1, 2] }
            #expect(test.texts == ["a", "b"])
            await processor.stop()
        }
    }
}

/// Lets tasks wait until a test opens it.
actor Gate {
    private var isOpen = false
    private var waiters: [CheckedContinuation<Void, Never>] = []

    func open() {
        isOpen = true
        for waiter in waiters { waiter.resume() }
        waiters = []
    }

    func wait() async {
        guard !isOpen else { return }
        await withCheckedContinuation { waiters.append($0) }
    }
}
