import CourierCore
import CourierTesting
import CourierTransport
import MQTTCodec
import MQTTEngine
import Synchronization
import TestSupport
import Testing

@testable import CourierMQTT

/// Waiting for room: it ends when there is some, not before, and not later than the policy says.
@Suite(.timeLimit(.minutes(5))) struct RoomTests {
    /// What stands behind a gate, and takes so many messages.
    private final class FakeSession: Sendable {
        private let room: Mutex<[Bool]>

        /// Takes or refuses the messages that come, in this order, and refuses what comes after them.
        init(_ answers: [Bool]) { room = Mutex(answers) }

        func take() -> Bool { room.withLock { $0.isEmpty ? false : $0.removeFirst() } }
    }

    private static func gate(_ answers: [Bool], _ policy: OfflinePolicy = OfflinePolicy()) -> PublishGate {
        let session = FakeSession(answers)
        return PublishGate(
            policy, now: { ContinuousClock.now }, deliver: { _, _, _, _, _, _ in session.take() },
            requestDrain: {}, ended: { _ in })
    }

    private static func submit(to gate: PublishGate) -> PublishGate.Admission {
        gate.submit(
            OutgoingMessage(topic: "t", payload: [1], qos: .atLeastOnce, token: PublishLedger.anonymous),
            isLatestOnly: false)
    }

    private static func opened(_ gate: PublishGate) -> PublishGate {
        gate.connected()
        _ = gate.drain(.max)
        return gate
    }

    // MARK: The gate

    @Test func `who waits for a full session is resumed when it has room, and not by its own asking`() async throws {
        let gate = Self.opened(Self.gate([false, false, true]))
        #expect(Self.submit(to: gate) == .full)
        #expect(!gate.hasRoom)
        let census = WaiterCensus()
        let waiter = gate.roomWaiter(census, for: 2)
        let task = Task { try await waiter.value() }
        while census.count == 0 { await Task.yield() }
        #expect(gate.drain(.max) == .opened)  // The session tells of its room by this.
        try await task.value
        #expect(Self.submit(to: gate) == .delivered)
    }

    @Test func `a session that made room before its lack was noted is asked once more`() {
        let gate = Self.opened(Self.gate([false, true]))
        #expect(Self.submit(to: gate) == .delivered)
        #expect(gate.hasRoom)
    }

    @Test func `a lost connection ends the wait for a full session, because the queue has room`() async throws {
        let gate = Self.opened(Self.gate([false, false]))
        #expect(Self.submit(to: gate) == .full)
        let census = WaiterCensus()
        let waiter = gate.roomWaiter(census, for: 2)
        let task = Task { try await waiter.value() }
        while census.count == 0 { await Task.yield() }
        gate.disconnected()
        #expect(census.count == 0)
        task.cancel()  // Which does nothing to a wait that has ended.
        try await task.value
        #expect(gate.hasRoom)
        #expect(Self.submit(to: gate) == .queued)
    }

    @Test func `what expires makes room`() async throws {
        let gate = Self.gate([], OfflinePolicy(maximumCount: 1, maximumAge: .seconds(1)))
        #expect(Self.submit(to: gate) == .queued)
        let waiter = gate.roomWaiter(WaiterCensus(), for: 2)
        #expect(gate.removeExpired(now: .now + .seconds(2)) == nil)
        try await waiter.value()
    }

    @Test func `a place that who was woken for it does not take goes to the next one`() async throws {
        let gate = Self.gate([], OfflinePolicy(maximumCount: 1, maximumAge: .seconds(1)))
        #expect(Self.submit(to: gate) == .queued)
        let census = WaiterCensus()
        let (first, second) = (gate.roomWaiter(census, for: 2), gate.roomWaiter(census, for: 2))
        let waiting = Task { try await second.value() }
        _ = gate.removeExpired(now: .now + .seconds(2))
        try await first.value()
        gate.passOnRoom()  // Its task was cancelled meanwhile.
        try await waiting.value
    }

    @Test(arguments: [OfflinePolicy.Overflow.fail, .dropOldest])
    func `a smaller message that takes the place of a larger one makes room`(overflow: OfflinePolicy.Overflow)
        async throws
    {
        let gate = Self.gate([], OfflinePolicy(maximumBytes: 100, overflow: overflow))
        func submit(_ count: Int) -> PublishGate.Admission {
            gate.submit(
                OutgoingMessage(
                    topic: "t", payload: [UInt8](repeating: 1, count: count), qos: .atLeastOnce,
                    token: PublishLedger.anonymous), isLatestOnly: overflow == .fail)
        }
        #expect(submit(80) == .queued)
        let census = WaiterCensus()
        let (small, large) = (gate.roomWaiter(census, for: 30), gate.roomWaiter(census, for: 80))
        let tasks = [small, large].map { waiter in Task { try await waiter.value() } }
        while census.count < 2 { await Task.yield() }
        #expect(submit(40) == .queued)
        try await tasks[0].value
        #expect(census.count == 1)
        gate.forget(large)
        large.resume(.success(()))
        try await tasks[1].value
    }

    @Test func `what has waited too long is not sent when its turn comes before anybody has looked`() {
        let start = ContinuousClock.now
        let passed = Box<Duration>()
        let ended = Box<[CourierError.Code]>()
        let delivered = Box<Int>()
        let gate = PublishGate(
            OfflinePolicy(maximumAge: .seconds(5)), now: { start + (passed.value ?? .zero) },
            deliver: { _, _, _, _, _, _ in
                delivered.value = (delivered.value ?? 0) + 1
                return true
            }, requestDrain: {}, ended: { ended.value = $0.map(\.code) })
        #expect(Self.submit(to: gate) == .queued)
        passed.value = .seconds(4)
        #expect(Self.submit(to: gate) == .queued)
        passed.value = .seconds(5)
        gate.connected()
        #expect(gate.drain(.max) == .opened)
        #expect(ended.value == [.messageExpired])
        #expect(delivered.value == 1)
    }

    @Test func `who needs more room than there is waits for that`() async throws {
        let gate = Self.gate([], OfflinePolicy(maximumBytes: 100, maximumAge: .seconds(1)))
        func submit(_ count: Int) -> PublishGate.Admission {
            gate.submit(
                OutgoingMessage(
                    topic: "t", payload: [UInt8](repeating: 1, count: count), qos: .atLeastOnce,
                    token: PublishLedger.anonymous), isLatestOnly: false)
        }
        #expect(submit(30) == .queued)
        #expect(submit(80) == .full)
        #expect(gate.hasRoom)
        let census = WaiterCensus()
        let large = gate.roomWaiter(census, for: 81)
        let task = Task { try await large.value() }
        while census.count == 0 { await Task.yield() }
        #expect(gate.removeExpired(now: .now + .seconds(2)) == nil)
        try await task.value
        #expect(submit(80) == .queued)
    }

    // MARK: The client

    @Test func `a message that is larger than everything that may wait fails in time, and holds up nobody`()
        async throws
    {
        let policy = OfflinePolicy(maximumBytes: 100, overflow: .suspend(timeout: .seconds(30)))
        let endless = ConnectionScript.connection([.expect(.connect), .stall])
        try await ScriptedWorld.run(Array(repeating: endless, count: 9)) {
            $0.offline = policy
        } _: { world in
            await world.connect()
            let large = Task { [client = world.client] in
                try await client.publish([UInt8](repeating: 1, count: 200), to: "t")
            }
            await world.until { world.client.waitingCount == 1 }
            try world.publish("small")
            await world.run(for: .seconds(30))
            let error = await #expect(throws: CourierError.self) { try await large.value }
            #expect(error?.code == .queueFull)
        }
    }

    @Test func `readyToPublish waits while the session is full`() async throws {
        let gate = ScriptGate()
        let script = ConnectionScript.connection([.accept(), .fault(.hold(.pubAck, until: gate))])
        try await ScriptedWorld.run([script]) {
            $0.maximumInFlight = 10
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

    @Test func `who waits for a full session goes on when its connection is lost`() async throws {
        let broken = ConnectionScript.connection([.accept(), .pause(.seconds(5)), .cut(.reset)])
        let endless = ConnectionScript.connection([.expect(.connect), .stall])
        try await ScriptedWorld.run([broken] + Array(repeating: endless, count: 9)) {
            $0.maximumInFlight = 10
            $0.offline.overflow = .suspend(timeout: .seconds(600))
        } _: { world in
            world.test.stopListening()  // To so many messages.
            await world.connect()
            let gate = world.client.parts.publishing.gate
            while gate.hasRoom {
                #expect(throws: CourierError.self) { while true { try world.publish("x") } }
                await world.settle()
            }
            let ready = Task { [client = world.client] in try await client.readyToPublish() }
            let late = Task { [client = world.client] in try await client.publish("late", to: "t") }
            await world.until { world.client.waitingCount == 2 }
            await world.run(for: .seconds(6))
            await world.until { gate.waitingCount == 1 }
            try await ready.value
            try world.publish("y")
            #expect(gate.waitingCount == 2)
            world.client.destroy()
            let error = await #expect(throws: CourierError.self) { try await late.value }
            #expect(error?.code == .clientDestroyed)
        }
    }

    @Test func `publishes of QoS 0 that fail with the connection leave their place to those behind them`()
        async throws
    {
        let broken = ConnectionScript.connection([.accept(), .pause(.seconds(5)), .cut(.reset)])
        let endless = ConnectionScript.connection([.expect(.connect), .stall])
        try await ScriptedWorld.run([broken] + Array(repeating: endless, count: 9)) {
            $0.maximumInFlight = 10
            $0.offline = OfflinePolicy(maximumCount: 1, overflow: .suspend(timeout: .seconds(600)))
        } _: { world in
            world.test.stopListening()  // To so many messages.
            await world.connect()
            let gate = world.client.parts.publishing.gate
            while gate.hasRoom {
                #expect(throws: CourierError.self) { while true { try world.publish("x") } }
                await world.settle()
            }
            // More than the loss wakes by itself.
            let lost = (0..<8).map { _ in
                Task { [client = world.client] in try await client.publish("lost", to: "t", qos: .zero) }
            }
            await world.until { world.client.waitingCount == 8 }
            let ready = Task { [client = world.client] in try await client.readyToPublish() }
            await world.until { world.client.waitingCount == 9 }
            let late = Task { [client = world.client] in try await client.publish("late", to: "t") }
            await world.until { world.client.waitingCount == 10 }
            await world.run(for: .seconds(5))
            await world.until { gate.waitingCount == 1 && world.client.waitingCount == 1 }
            world.client.destroy()
            for task in lost {
                let error = await #expect(throws: CourierError.self) { try await task.value }
                #expect(error?.code == .connectionLost)
            }
            try await ready.value
            let error = await #expect(throws: CourierError.self) { try await late.value }
            #expect(error?.code == .clientDestroyed)
        }
    }

    @Test func `readyToPublish waits for the store's outbox`() async throws {
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
            try world.publish("1")
            #expect(throws: CourierError.self) { try world.publish("2") }
            let ready = Task { [client = world.client] in try await client.readyToPublish() }
            await world.until { world.client.waitingCount == 1 }
            store.release()
            try await ready.value
            try world.publish("2")
            await world.until { await world.publishes().count == 4 }
        }
    }

    private static let full = OfflinePolicy(maximumCount: 1, overflow: .suspend(timeout: .seconds(30)))

    /// Enqueues in a task, which writes down what was taken.
    private static func enqueue(
        _ text: String, _ world: ScriptedWorld, noting taken: Series<String>, on executor: (any TaskExecutor)? = nil
    ) -> Task<Void, any Error> {
        Task(executorPreference: executor) { [client = world.client] in
            try await client.enqueue(text, to: "t")
            taken.append(text)
        }
    }

    @Test func `without a connection who waits longest gets the place of a message that expired`() async throws {
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

    @Test func `who lost the place that it was woken for leaves what is left of it to those behind it`() async throws {
        let endless = ConnectionScript.connection([.expect(.connect), .stall])
        try await ScriptedWorld.run(Array(repeating: endless, count: 9)) {
            $0.offline = OfflinePolicy(maximumBytes: 100, overflow: .suspend(timeout: .seconds(30)))
        } _: { world in
            await world.connect()
            /// A message of so many bytes with its topic, which has one.
            @Sendable func text(_ size: Int) -> String { String(repeating: "x", count: size - 1) }
            let gate = world.client.parts.publishing.gate
            let short = MessageProperties(messageExpiry: .seconds(5))
            try await world.client.enqueue(text(100), to: "t", properties: short)
            let taken = Series<String>()
            let large = Self.enqueue(text(80), world, noting: taken, on: world.loop)
            await world.until { world.client.waitingCount == 1 }
            let small = Self.enqueue(text(30), world, noting: taken)
            await world.until { world.client.waitingCount == 2 }
            world.loop.execute { [client = world.client] in
                // The large one goes on where this runs, and so behind the one that comes in between.
                _ = gate.removeExpired(now: world.clock.now + .seconds(5))
                try? client.publish(text: text(40), to: "t")
            }
            await world.until { taken.values == [text(30)] }
            #expect(gate.waitingCount == 2)
            await world.run(for: .seconds(30))
            try await small.value
            let error = await #expect(throws: CourierError.self) { try await large.value }
            #expect(error?.code == .queueFull)
        }
    }

    @Test func `who waits for half of the limits is taken at the end of its time if there is a place`() async throws {
        try await ScriptedWorld.run([.connection([.refuse(.serverUnavailable)])]) {
            $0.offline = OfflinePolicy(
                maximumCount: 4, overflow: .suspend(timeout: .seconds(10)), drainCount: 1, drainInterval: .seconds(60))
        } _: { world in
            await world.connect()
            let gate = world.client.parts.publishing.gate
            for index in 0..<4 { try world.publish("\(index)") }
            let taken = Series<String>()
            let late = Self.enqueue("4", world, noting: taken)
            await world.until { world.client.waitingCount == 1 }
            await world.run(for: .seconds(9))
            #expect(gate.waitingCount == 3)
            #expect(taken.values.isEmpty)
            await world.run(for: .seconds(1))
            await world.until { taken.values == ["4"] }
            try await late.value
            #expect(gate.waitingCount == 4)
        }
    }

    @Test func `a publish that waited for room is told once`() async throws {
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

    @Test func `the time to wait for room is one time, however often somebody else was first`() async throws {
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
            // The first message has expired, and one of the two tasks has its place; virtual time waits for no task.
            await world.until { !world.client.parts.publishing.gate.hasRoom && world.client.waitingCount == 2 }
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
