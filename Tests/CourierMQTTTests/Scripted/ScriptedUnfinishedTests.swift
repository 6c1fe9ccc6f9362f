import CourierCore
import CourierTesting
import MQTTCodec
import TestSupport
import Testing

@testable import CourierMQTT

/// Messages whose loop was left before it had finished them.
@Suite(.timeLimit(.minutes(5))) struct ScriptedUnfinishedTests {
    private typealias Reading = ScriptedReadingTests

    /// Takes the first message and leaves the loop in the middle of it.
    private static func leaveUnfinished(_ world: ScriptedWorld) async throws {
        do {
            var messages = Reading.reader(world)
            await world.connect()
            try await Reading.expectNext("a", of: &messages)
        }
        await world.settle()
        #expect(await Reading.acknowledged(world).isEmpty)
    }

    /// [MQTT-4.3.3-10]: it is known, so it does not come to us a second time.
    @Test func `QoS 2 outlives the connection, and what comes behind it is acknowledged`() async throws {
        let script: [ConnectionScript] = [
            .connection([
                .accept(), .serve(until: .subscribe), .answer, Reading.message(1, "a", qos: .two),
                .serve(until: .publish(to: "cut")), .cut(.reset),
            ]),
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

    @Test func `a reader that acknowledges on receipt does so with what another left`() async throws {
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

    /// [MQTT-4.6.0-2]: what comes later can not be acknowledged before.
    @Test func `what nobody takes holds up the other topics for ten seconds, and waits for a reader then`()
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

    @Test func `what was kept for a reader and left by it waits for the next one`() async throws {
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
            await world.run(for: .seconds(90))  // With its time it did not begin anew.
            #expect(world.errors(of: "messageReceiveFailure").map(\.code) == [.noReader])
        }
    }

    @Test func `what comes after destroy() is not acknowledged by who still has messages from before`() async throws {
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

    @Test func `the log is told what is given up when nobody listens to events, once a minute`() async throws {
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
            #expect(log.values.first?.contains("nobody reads this topic") == true)
            await world.run(for: .seconds(62))
            #expect(log.values.count == 2)
        }
    }
}
