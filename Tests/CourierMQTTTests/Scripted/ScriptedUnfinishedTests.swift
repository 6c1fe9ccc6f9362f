import CourierCore
import CourierTesting
import CourierTransport
import MQTTCodec
import TestSupport
import Testing

@testable import CourierMQTT

/// Messages that a loop received but did not finish before it ended.
@Suite(.timeLimit(.minutes(5))) struct ScriptedUnfinishedTests {
    private typealias Reading = ScriptedReadingTests

    /// A connection with one QoS 2 message. The broker ends it when the client publishes to "cut".
    private static let cutting = ConnectionScript.connection([
        .accept(), .serve(until: .subscribe), .answer, Reading.message(1, "a", qos: .two),
        .serve(until: .publish(to: "cut")), .cut(.reset),
    ])

    /// Receives the first message and ends the loop before the message is finished.
    private static func leaveUnfinished(_ world: ScriptedWorld) async throws {
        do {
            var messages = Reading.reader(world)
            await world.connect()
            try await Reading.expectNext("a", of: &messages)
        }
        await world.settle()
        #expect(await Reading.acknowledged(world).isEmpty)
    }

    /// Advances the clock second by second, so that a failing store is called again in each second.
    private static func wait(_ seconds: Int, _ world: ScriptedWorld) async {
        for _ in 0..<seconds { await world.run(for: .seconds(1)) }
    }

    /// Leaves a message unfinished with a store that fails to keep messages with the error `code`, then runs `body`.
    private static func leaveUnfinished(
        _ script: [ConnectionScript], _ code: CourierError.Code,
        _ body: (ScriptedWorld, ControlledStore) async throws -> Void
    ) async throws {
        let store = ControlledStore()
        try await ScriptedWorld.run(script) {
            $0.messageStore = store
        } _: { world in
            try await world.client.subscribeAndSettle("t", world)
            try await leaveUnfinished(world)
            store.fail { if case .keep = $0 { CourierError(code, "Not now.") } else { nil } }
            try await body(world, store)
        }
    }

    /// [MQTT-4.3.3-10]: the client knows the packet id, so it does not deliver the message a second time.
    @Test func `after a reconnect, an ended reader's unacknowledged QoS 2 message and a new message are acknowledged`()
        async throws
    {
        let script: [ConnectionScript] = [
            Self.cutting,
            .connection([
                .accept(isSessionPresent: true), Reading.message(1, "a", qos: .two, again: true),
                .serve(until: .publish(to: "go")), Reading.message(2, "b", qos: .two),
            ]),
        ]
        try await ScriptedWorld.run(script) { world in
            try await world.client.subscribeAndSettle("t", world)
            try await Self.leaveUnfinished(world)
            try world.client.publishMessage("", topic: "cut", qos: .zero)
            await world.run(for: .seconds(2))
            var messages = Reading.reader(world)
            try await Reading.expectNext("a", of: &messages)
            try world.client.publishMessage("", topic: "go", qos: .zero)
            try #require(try await messages.next()).acknowledge()
            await world.settle()
            #expect(await Reading.acknowledged(world, on: 2) == [1, 2])
        }
    }

    @Test func `a new reader with onReceipt acknowledges the messages that an ended reader did not acknowledge`()
        async throws
    {
        let script = Reading.broker(Reading.message(1, "a"), Reading.message(2, "b"))
        try await ScriptedWorld.run([script]) { world in
            try await world.client.subscribeAndSettle("t", world)
            try await Self.leaveUnfinished(world)
            var messages = Reading.reader(world, .onReceipt)
            try await Reading.expectNext("a", of: &messages)
            await world.settle()
            #expect(await Reading.acknowledged(world) == [1, 2])
        }
    }

    /// [MQTT-4.6.0-2]: a later message cannot be acknowledged before an earlier one.
    @Test
    func `an ended reader's unacknowledged message delays other acknowledgements by 10 s and reaches the next reader`()
        async throws
    {
        let other = Publish(topic: "other", payload: [], delivery: .atLeastOnce(2, isDuplicate: false))
        let script = Reading.broker(Reading.message(1, "a"), .send(.publish(other)))
        try await ScriptedWorld.run([script]) { world in
            try await world.client.subscribeAndSettle("t", world)
            var others = world.client.messages(Message.self, from: "other").makeAsyncIterator()
            try await Self.leaveUnfinished(world)
            #expect(try await others.next() != nil)
            await world.run(for: .milliseconds(9_999))
            #expect(await Reading.acknowledged(world).isEmpty)
            await world.run(for: .milliseconds(1))
            #expect(await Reading.acknowledged(world) == [1, 2])
            await world.run(for: .seconds(1_000))
            var messages = Reading.reader(world)
            try await Reading.expectNext("a", of: &messages)
            #expect(world.errors(of: "messageReceiveFailure").isEmpty)
        }
    }

    @Test(arguments: [QoS.one, .two])
    func `with a store, a message that an ended reader did not acknowledge is stored and then acknowledged`(
        _ qos: QoS
    ) async throws {
        let store = ControlledStore()
        try await ScriptedWorld.run([Reading.broker(Reading.message(1, "a", qos: qos))]) {
            $0.messageStore = store
        } _: { world in
            try await world.client.subscribeAndSettle("t", world)
            do {
                var messages = Reading.reader(world)
                await world.connect()
                try await Reading.expectNext("a", of: &messages)
            }
            await world.until { store.changes.contains(.forgetAllPacketIDs) }
            store.hold()
            await world.run(for: .seconds(10))
            #expect(await Reading.acknowledged(world).isEmpty)
            store.release()
            await world.until { await Reading.acknowledged(world) == [1] }
            let kept = store.changes.compactMap { if case .keep(let message) = $0 { message } else { nil } }
            #expect(kept.map(\.payload) == [Array("a".utf8)] && kept.first?.expiresAt == nil)
            #expect(store.changes.contains(.rememberPacketID(1)) == (qos == .two))
            var messages = Reading.reader(world)
            try await Reading.expectNext("a", of: &messages)
        }
    }

    @Test func `with a store, a message that an ended reader did not acknowledge is delivered before a new message`()
        async throws
    {
        let store = ControlledStore()
        let script = Reading.broker(
            Reading.message(1, "a"), .serve(until: .publish(to: "go")), Reading.message(2, "b"))
        try await ScriptedWorld.run([script]) {
            $0.messageStore = store
            $0.messagePersistenceTTLSeconds = 1_000
        } _: { world in
            try await world.client.subscribeAndSettle("t", world)
            try await Self.leaveUnfinished(world)
            await world.until { store.changes.contains(.forgetAllPacketIDs) }
            try world.client.publishMessage("", topic: "go", qos: .zero)
            await world.until { await Reading.acknowledged(world) == [1, 2] }
            var messages = Reading.reader(world)
            try await Reading.expectNext("a", of: &messages)
            try await Reading.expectNext("b", of: &messages)
        }
    }

    @Test func `with maximumKeptMessages = 0, an ended reader's message stays unacknowledged, and a warning is logged`()
        async throws
    {
        let log = Series<String>()
        struct Recorder: LogHandler {
            let log: Series<String>
            func log(_ record: LogRecord) { if record.level >= .warning { log.append(record.message) } }
        }
        try await ScriptedWorld.run([Reading.broker(Reading.message(1, "a"))]) {
            $0.limits.maximumKeptMessages = 0
            $0.logHandler = Recorder(log: log)
        } _: { world in
            try await world.client.subscribeAndSettle("t", world)
            try await Self.leaveUnfinished(world)
            await world.run(for: .seconds(25))
            #expect(await Reading.acknowledged(world).isEmpty)
            #expect(log.values.count == 1)
            var messages = Reading.reader(world)
            try await Reading.expectNext("a", of: &messages)
        }
    }

    @Test
    func `with a store, a messagePublisher receives a message once, even if an ended loop did not acknowledge it`()
        async throws
    {
        let store = ControlledStore()
        let script = Reading.broker(
            Reading.message(1, "a"), .serve(until: .publish(to: "go")), Reading.message(2, "b"))
        try await ScriptedWorld.run([script]) {
            $0.messageStore = store
            $0.messagePersistenceTTLSeconds = 1_000
        } _: { world in
            try await world.client.subscribeAndSettle("t", world)
            let seen = Series<String>()
            let sink = world.client.messagePublisher(topic: "t").sink { (message: Message) in
                seen.append(message.payloadString ?? "")
            }
            do {
                var messages = Reading.reader(world)
                await world.connect()
                try await Reading.expectNext("a", of: &messages)
            }
            await world.until { store.changes.contains(.forgetAllPacketIDs) && seen.values == ["a"] }
            await world.run(for: .seconds(10))
            await world.until { await Reading.acknowledged(world) == [1] }
            #expect(seen.values == ["a"])
            sink.cancel()
            await world.settle()
            try world.client.publishMessage("", topic: "go", qos: .zero)
            await world.until { await Reading.acknowledged(world) == [1, 2] }
            var messages = Reading.reader(world)
            try await Reading.expectNext("a", of: &messages)
            try await Reading.expectNext("b", of: &messages)
        }
    }

    @Test func `if a reader starts while an ended reader's message is being stored, the new reader gets the message`()
        async throws
    {
        try await Self.leaveUnfinished([Reading.broker(Reading.message(1, "a"))], .storeFailed) { world, store in
            await world.run(for: .seconds(11))
            #expect(await Reading.acknowledged(world).isEmpty)
            var messages = Reading.reader(world)
            await world.settle()
            store.fail(nil)
            await world.run(for: .seconds(2))
            try await Reading.expectNext("a", of: &messages)
            await world.until { await Reading.acknowledged(world) == [1] }
        }
    }

    @Test func `an ended reader's unacknowledged QoS 2 message is delivered despite a full store and a lost session`()
        async throws
    {
        try await Self.leaveUnfinished([Self.cutting, .connection([.accept()])], .storeFull) { world, store in
            try world.client.publishMessage("", topic: "cut", qos: .zero)
            await Self.wait(25, world)  // The store refuses the message after 10 s, and the client tries again.
            #expect(!store.changes.contains { if case .keep = $0 { true } else { false } })
            var messages = Reading.reader(world)
            try await Reading.expectNext("a", of: &messages)
        }
    }

    @Test func `if a full store refuses an ended reader's message, an open reader receives the message once`()
        async throws
    {
        try await Self.leaveUnfinished([Reading.broker(Reading.message(1, "a"))], .storeFull) { world, _ in
            await Self.wait(12, world)
            let seen = Series<String>()
            let sink = world.client.messagePublisher(topic: "t").sink { (message: Message) in
                seen.append(message.payloadString ?? "")
            }
            await Self.wait(7, world)
            #expect(seen.values.isEmpty)
            await Self.wait(2, world)
            #expect(seen.values == ["a"])
            #expect(await Reading.acknowledged(world) == [1])
            await Self.wait(25, world)
            #expect(seen.values == ["a"])
            sink.cancel()
        }
    }

    /// [MQTT-4.3.3-8]: without a PUBREC the broker never completes the message.
    @Test func `an ended reader's message that a full store refused once is stored and acknowledged later`()
        async throws
    {
        let store = ControlledStore()
        try await ScriptedWorld.run([Reading.broker(Reading.message(1, "a", qos: .two))]) {
            $0.messageStore = store
        } _: { world in
            try await world.client.subscribeAndSettle("t", world)
            do {
                var second = Reading.reader(world)
                try await Self.leaveUnfinished(world)
                try await Reading.expectNext("a", of: &second)
                store.fail { if case .keep = $0 { CourierError(.storeFull, "No room.") } else { nil } }
                await Self.wait(12, world)  // The message of the first reader is being stored.
                withExtendedLifetime(second) {}
            }
            await Self.wait(9, world)  // The store has refused the message.
            #expect(await Reading.acknowledged(world).isEmpty)
            store.fail(nil)
            await Self.wait(12, world)
            await world.until { await Reading.acknowledged(world) == [1] }
            let kept = store.changes.count { if case .keep = $0 { true } else { false } }
            #expect(kept == 1)
            var messages = Reading.reader(world)
            try await Reading.expectNext("a", of: &messages)
        }
    }

    @Test func `a message received while a loop is ending is delivered to the next loop`() async throws {
        let script = Reading.broker(.serve(until: .publish(to: "go")), Reading.message(1, "a"))
        try await ScriptedWorld.run([script]) { world in
            try await world.client.subscribeAndSettle("t", world)
            let filter = try TopicFilter("t")
            let registration = ReaderRegistration(
                ReadBuffer(), world.client.parts.coordinator.distributor, on: world.loop)
            world.loop.execute { registration.open(filter, .afterProcessing) }
            await world.connect()
            _ = registration.queue.close()  // The loop handles this end later.
            try world.client.publishMessage("", topic: "go", qos: .zero)
            await world.settle()
            #expect(await Reading.acknowledged(world).isEmpty)
            world.loop.execute { registration.close([]) }
            var messages = Reading.reader(world)
            try #require(try await messages.next()).acknowledge()
            await world.settle()
            #expect(await Reading.acknowledged(world) == [1])
        }
    }

    @Test func `a message that two ended readers did not acknowledge is delivered once to the next reader`()
        async throws
    {
        try await ScriptedWorld.run([Reading.broker(Reading.message(1, "a"), Reading.message(2, "b"))]) { world in
            try await world.client.subscribeAndSettle("t", world)
            do {
                var one = Reading.reader(world)
                var two = Reading.reader(world)
                await world.connect()
                try await Reading.expectNext("a", of: &one)
                try await Reading.expectNext("a", of: &two)
            }
            await world.settle()
            var next = Reading.reader(world)
            try await Reading.expectNext("a", of: &next)
            try await Reading.expectNext("b", of: &next)
            await world.settle()
            #expect(await Reading.acknowledged(world) == [1])
        }
    }

    /// [MQTT-4.3.3-10]: in the new session the packet id belongs to another message.
    @Test func `an acknowledgement of a message from a lost session does not store the packet id`() async throws {
        let store = ControlledStore()
        try await ScriptedWorld.run([Self.cutting, .connection([.accept()])]) {
            $0.messageStore = store
        } _: { world in
            var messages = Reading.reader(world)
            await world.connect()
            let message = try #require(try await messages.next())
            try world.client.publishMessage("", topic: "cut", qos: .zero)
            await world.run(for: .seconds(2))
            await world.until { store.changes.count { $0 == .forgetAllPacketIDs } == 2 }
            message.acknowledge()
            await world.settle()
            #expect(!store.changes.contains(.rememberPacketID(1)))
        }
    }

    @Test func `a kept message that a reader did not acknowledge is delivered again with the same expiry time`()
        async throws
    {
        let script = ConnectionScript.connection([.accept(), Reading.message(1, "a"), Reading.message(2, "b")])
        try await ScriptedWorld.run([script]) {
            $0.messagePersistenceTTLSeconds = 60
        } _: { world in
            await world.connect()
            #expect(await Reading.acknowledged(world) == [1, 2])
            do {
                var messages = Reading.reader(world)
                try await Reading.expectNext("a", of: &messages)
            }
            await world.settle()
            do {
                var messages = Reading.reader(world)
                try await Reading.expectNext("a", of: &messages)
                try await Reading.expectNext("b", of: &messages)
            }
            await world.run(for: .seconds(90))  // The lifetime of the message did not restart.
            #expect(world.errors(of: "messageReceiveFailure").map(\.code) == [.noReader])
        }
    }

    @Test func `a loop that reads old messages after destroy() acknowledges no message of the new session`()
        async throws
    {
        let script = [
            Reading.broker(Reading.message(1, "a"), Reading.message(2, "b")),
            Reading.broker(Reading.message(1, "c"), Reading.message(2, "d")),
        ]
        try await ScriptedWorld.run(script) { world in
            var messages = Reading.reader(world)
            await world.connect()
            try await Reading.expectNext("a", of: &messages)
            world.client.destroy()
            await world.settle()
            await world.connect()
            try await Reading.expectNext("b", of: &messages)
            try await Reading.expectNext("c", of: &messages)
            await world.settle()
            #expect(await Reading.acknowledged(world, on: 2).isEmpty)
            try await Reading.expectNext("d", of: &messages)
            await world.settle()
            #expect(await Reading.acknowledged(world, on: 2) == [1])
        }
    }

    @Test func `without event listeners, messages without a reader are logged once a minute`() async throws {
        let log = Series<String>()
        struct Recorder: LogHandler {
            let log: Series<String>
            func log(_ record: LogRecord) { if record.level >= .warning { log.append(record.message) } }
        }
        let script = ConnectionScript.connection([
            .accept(), Reading.message(1, "a"), Reading.message(2, "b"), .pause(.seconds(61)), Reading.message(3, "c"),
        ])
        try await ScriptedWorld.run([script]) {
            $0.logHandler = Recorder(log: log)
        } _: { world in
            world.test.stopListening()
            await world.connect()
            #expect(log.values.count == 1)
            #expect(log.values.first?.contains("no reader reads this topic") == true)
            await world.run(for: .seconds(62))
            #expect(log.values.count == 2)
        }
    }
}
