import CourierCore
import CourierTesting
import CourierTransport
import MQTTCodec
import MQTTEngine
import Synchronization
import TestSupport
import Testing

@testable import CourierMQTT

/// Callers that wait for room are resumed when there is room, or at the timeout of the policy.
@Suite(.timeLimit(.minutes(5))) struct RoomTests {
    // MARK: The client

    @Test func `a message larger than maximumBytes fails at once, and does not block other messages`() async throws {
        let policy = OfflinePolicy(maximumBytes: 100, overflow: .suspend(timeout: .seconds(30)))
        let endless = ConnectionScript.connection([.expect(.connect), .stall])
        try await ScriptedWorld.run(Array(repeating: endless, count: 9)) {
            $0.offline = policy
        } _: { world in
            await world.connect()
            let error = await #expect(throws: CourierError.self) {
                try await world.client.publish([UInt8](repeating: 1, count: 200), to: "t")
            }
            #expect(error?.code == .queueFull)
            try world.publish("small")
        }
    }

    @Test func `readyToPublish() waits while the outgoing queue is full`() async throws {
        let gate = ScriptGate()
        let script = ConnectionScript.connection([.accept(), .fault(.hold(.pubAck, until: gate))])
        try await ScriptedWorld.run([script]) {
            $0.limits.maximumInFlight = 10
        } _: { world in
            await world.connect()
            #expect(throws: CourierError.self) { while true { try world.publish("x") } }
            await world.settle()
            #expect(throws: CourierError.self) { try world.publish("x") }
            let ready = Task { [client = world.client] in try await client.readyToPublish() }
            await world.until { world.client.waitingCount == 1 }
            await world.run(for: .seconds(10))
            #expect(world.client.waitingCount == 1)
            gate.release()
            try await ready.value
            try world.publish("y")
        }
    }

    @Test func `a caller that waits for room in a full queue continues after a reconnect`() async throws {
        let broken = ConnectionScript.connection([
            .accept(), .fault(.drop(.pubAck, count: 9)), .pause(.seconds(5)), .cut(.reset),
        ])
        try await ScriptedWorld.run([broken]) {
            $0.limits.maximumInFlight = 2
            $0.offline = OfflinePolicy(maximumCount: 2, overflow: .suspend(timeout: .seconds(600)))
        } _: { world in
            await world.connect()
            for text in ["0", "1"] { try world.publish(text) }
            await world.settle()
            for text in ["2", "3"] { try world.publish(text) }
            #expect(throws: CourierError.self) { try world.publish("x") }
            let late = Task { [client = world.client] in try await client.publish("late", to: "t") }
            await world.until { world.client.waitingCount == 1 }
            await world.run(for: .seconds(4))
            #expect(world.client.waitingCount == 1)
            await world.run(for: .seconds(6))
            _ = try await late.value
            #expect(await world.publishes(on: 2).map(\.text) == ["0", "1", "2", "3", "late"])
        }
    }

    @Test func `QoS 0 publish() calls that wait for room fail with connectionLost when the connection is lost`()
        async throws
    {
        let broken = ConnectionScript.connection([
            .accept(), .fault(.drop(.pubAck, count: 9)), .pause(.seconds(5)), .cut(.reset),
        ])
        let endless = ConnectionScript.connection([.expect(.connect), .stall])
        try await ScriptedWorld.run([broken] + Array(repeating: endless, count: 9)) {
            $0.limits.maximumInFlight = 1
            $0.offline = OfflinePolicy(maximumCount: 1, overflow: .suspend(timeout: .seconds(600)))
        } _: { world in
            await world.connect()
            try world.publish("in flight")
            await world.settle()
            try world.publish("waits")
            let lost = (0..<8).map { _ in
                Task { [client = world.client] in try await client.publish("lost", to: "t", qos: .zero) }
            }
            await world.until { world.client.waitingCount == 8 }
            let late = Task { [client = world.client] in try await client.publish("late", to: "t") }
            await world.until { world.client.waitingCount == 9 }
            await world.run(for: .seconds(6))
            await world.until { world.client.waitingCount == 1 }
            for task in lost {
                let error = await #expect(throws: CourierError.self) { try await task.value }
                #expect(error?.code == .connectionLost)
            }
            world.client.destroy()
            let error = await #expect(throws: CourierError.self) { try await late.value }
            #expect(error?.code == .clientDestroyed)
        }
    }

    @Test func `readyToPublish() waits while too many messages wait for a slow store`() async throws {
        let store = ControlledStore()
        try await ScriptedWorld.run {
            $0.messageStore = store
            $0.offline.maximumCount = 2
        } _: { world in
            await ScriptedOutboxTests.connect(world, store)
            store.hold()
            try world.publish("on its way into the store")
            await world.until { store.heldCount == 1 }
            try world.publish("0")
            #expect(throws: CourierError.self) { try world.publish("1") }
            let ready = Task { [client = world.client] in try await client.readyToPublish() }
            await world.until { world.client.waitingCount == 1 }
            store.release()
            try await ready.value
            try world.publish("1")
            await world.until { await world.publishes().count == 3 }
        }
    }

    private static let full = OfflinePolicy(maximumCount: 1, overflow: .suspend(timeout: .seconds(30)))

    /// Enqueues in a task, and records the text when the message is accepted.
    private static func enqueue(
        _ text: String, _ world: ScriptedWorld, noting taken: Series<String>, on executor: (any TaskExecutor)? = nil
    ) -> Task<Void, any Error> {
        Task(executorPreference: executor) { [client = world.client] in
            try await client.enqueue(text, to: "t")
            taken.append(text)
        }
    }

    @Test func `without a connection, the longest-waiting caller is accepted when another message expires`()
        async throws
    {
        let endless = ConnectionScript.connection([.expect(.connect), .stall])
        try await ScriptedWorld.run(Array(repeating: endless, count: 9)) {
            $0.offline.maximumCount = 4
        } _: { world in
            await world.connect()
            let short = MessageProperties(messageExpiry: .seconds(5))
            try await world.client.enqueue("0", to: "t", properties: short)
            for text in ["1", "2", "3"] { try await world.client.enqueue(text, to: "t") }
            let taken = Series<String>()
            let first = Self.enqueue("4", world, noting: taken)
            await world.until { world.client.waitingCount == 1 }
            let second = Self.enqueue("5", world, noting: taken)
            await world.until { world.client.waitingCount == 2 }
            await world.run(for: .seconds(6))
            await world.until { taken.values == ["4"] }
            try await first.value
            #expect(world.client.waitingCount == 1)
            await world.run(for: .seconds(24))
            let error = await #expect(throws: CourierError.self) { try await second.value }
            #expect(error?.code == .queueFull)
            #expect(taken.values == ["4"])
        }
    }

    @Test func `if a resumed caller no longer has room, the next waiting caller uses the remaining room`()
        async throws
    {
        let endless = ConnectionScript.connection([.expect(.connect), .stall])
        try await ScriptedWorld.run(Array(repeating: endless, count: 9)) {
            $0.protocolVersion = .version311  // MQTT 3.1.1 sends no content type, so the size is known.
            $0.offline = OfflinePolicy(maximumBytes: 100, overflow: .suspend(timeout: .seconds(30)))
        } _: { world in
            await world.connect()
            /// A message of this size, including the topic of one byte.
            @Sendable func text(_ size: Int) -> String { String(repeating: "x", count: size - 1) }
            let queue = world.client.parts.publishing.queue
            let short = MessageProperties(messageExpiry: .seconds(5))
            try await world.client.enqueue(text(100), to: "t", properties: short)
            let taken = Series<String>()
            let large = Self.enqueue(text(80), world, noting: taken, on: world.loop)
            await world.until { world.client.waitingCount == 1 }
            let small = Self.enqueue(text(30), world, noting: taken)
            await world.until { world.client.waitingCount == 2 }
            world.loop.execute { [client = world.client] in
                // The caller with the large message continues in a later step of this loop. So the message that is
                // published in between is accepted first.
                let (taken, _) = queue.endExpired(now: world.clock.now + .seconds(5))
                client.parts.publishing.results.report(taken.ended)
                for waiter in taken.roomWaiters { waiter.resume(.success(())) }
                try? client.publish(text: text(40), to: "t")
            }
            await world.until { taken.values == [text(30)] }
            #expect(queue.waitingCount == 2)
            await world.run(for: .seconds(30))
            try await small.value
            let error = await #expect(throws: CourierError.self) { try await large.value }
            #expect(error?.code == .queueFull)
        }
    }

    @Test
    func `when the suspend timeout of a waiting caller ends, the caller's message is accepted if the queue has room`()
        async throws
    {
        try await ScriptedWorld.run([.connection([.refuse(.serverUnavailable)])]) {
            $0.offline = OfflinePolicy(
                maximumCount: 4, overflow: .suspend(timeout: .seconds(10)), drainCount: 1, drainInterval: .seconds(60))
        } _: { world in
            await world.connect()
            let queue = world.client.parts.publishing.queue
            for index in 0..<4 { try world.publish("\(index)") }
            let taken = Series<String>()
            let late = Self.enqueue("4", world, noting: taken)
            await world.until { world.client.waitingCount == 1 }
            await world.run(for: .seconds(9))
            #expect(queue.waitingCount == 3)
            #expect(taken.values.isEmpty)
            await world.run(for: .seconds(1))
            await world.until { taken.values == ["4"] }
            try await late.value
            #expect(queue.waitingCount == 4)
        }
    }

    @Test func `a publish() call that waited for room reports one messageSend and one messageSendSuccess event`()
        async throws
    {
        try await ScriptedWorld.run([.connection([.refuse(.serverUnavailable)])]) {
            $0.offline = Self.full
        } _: { world in
            await world.connect()
            try world.publish("first")
            let late = Task { [client = world.client] in try await client.publish("late", to: "t") }
            await world.until { world.client.waitingCount == 1 }
            await world.run(for: .seconds(1))
            _ = try await late.value
            await world.settle()
            #expect(world.events.filter { $0 == "messageSend" }.count == 2)
            #expect(world.events.filter { $0 == "messageSendSuccess" }.count == 2)
            #expect(!world.events.contains("messageSendFailure"))
        }
    }

    @Test func `the suspend timeout does not restart when another caller uses the free room`() async throws {
        let endless = ConnectionScript.connection([.expect(.connect), .stall])
        try await ScriptedWorld.run(Array(repeating: endless, count: 9)) {
            $0.offline = Self.full
            $0.offline.maximumAge = .seconds(20)
        } _: { world in
            await world.connect()
            try world.publish("first")
            let failures = Series<CourierError.Code>()
            for _ in 0..<2 {
                Task { [client = world.client] in
                    do {
                        try await client.publish("late", to: "t")
                    } catch let error as CourierError {
                        failures.append(error.code)
                    }
                }
            }
            await world.until { world.client.waitingCount == 2 }
            await world.run(for: .seconds(20))
            // The first message has expired, and the message of one of the two tasks has replaced it. Virtual time
            // does not wait for tasks.
            await world.until {
                world.client.parts.publishing.queue.waitingCount == 1 && world.client.waitingCount == 2
            }
            #expect(failures.values.isEmpty)
            await world.run(for: .seconds(9))
            #expect(failures.values.isEmpty)
            await world.run(for: .seconds(2))
            await world.until { !failures.values.isEmpty }
            #expect(failures.values == [.queueFull])
            await world.run(for: .seconds(60))
            await world.until { failures.values.count == 2 }
            #expect(failures.values == [.queueFull, .messageExpired])
        }
    }
}
