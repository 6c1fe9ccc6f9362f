import CourierCore
import CourierTesting
import MQTTCodec
import Testing

@testable import CourierMQTT

/// The readers that receive messages, if many messages arrive together.
@Suite(.timeLimit(.minutes(5))) struct MessageDistributorTests {
    private static func message(
        _ topic: String, _ payload: [UInt8], _ delivery: Delivery = .atMostOnce
    ) -> ScriptStep {
        .send(.publish(Publish(topic: topic, payload: payload, delivery: delivery)))
    }

    private static func message(_ topic: String, _ text: String, _ delivery: Delivery = .atMostOnce) -> ScriptStep {
        message(topic, Array(text.utf8), delivery)
    }

    private static func reader(
        _ world: ScriptedWorld, _ filter: String, _ mode: AcknowledgementMode = .onReceipt
    ) -> MessageSequence<Message>.Iterator {
        world.client.messages(Message.self, from: filter, acknowledge: mode).makeAsyncIterator()
    }

    @Test func `an added reader receives the next message, and a removed reader does not block later messages`()
        async throws
    {
        let script: ConnectionScript = .connection([
            .accept(), .serve(until: .subscribe), .answer, Self.message("t", "a"), .serve(until: .publish(to: "1")),
            Self.message("t", "b"), .serve(until: .publish(to: "2")), Self.message("t", "c"),
        ])
        try await ScriptedWorld.run([script]) { world in
            var first = Self.reader(world, "t")
            await world.connect()
            #expect(try await first.next()?.payloadString == "a")
            do {
                var second = Self.reader(world, "+")
                await world.settle()
                try world.client.publishMessage("", topic: "1", qos: .zero)
                #expect(try await first.next()?.payloadString == "b")
                #expect(try await second.next()?.payloadString == "b")
            }
            await world.settle()
            try world.client.publishMessage("", topic: "2", qos: .zero)
            #expect(try await first.next()?.payloadString == "c")
        }
    }

    @Test func `readers receive messages with alternating topics and sizes in order`() async throws {
        let sizes = [0, 1, 70, MessagePage.singleByteCount, 100, MessagePage.sharedByteCount + 1, 2, 3_000]
        let sent = (0..<60).map { number in
            ("t/\(number % 7 % 3)", [UInt8](repeating: UInt8(number), count: sizes[number % sizes.count]))
        }
        let script: ConnectionScript = .connection(
            [.accept(), .serve(until: .subscribe), .answer, .serve(until: .publish(to: "go"))]
                + sent.map { Self.message($0, $1) })
        try await ScriptedWorld.run([script]) { world in
            var all = Self.reader(world, "t/#")
            var some = Self.reader(world, "t/1")
            await world.connect()
            await world.settle()
            try world.client.publishMessage("", topic: "go", qos: .zero)
            for (topic, payload) in sent {
                let message = try #require(try await all.next())
                #expect(message.topic == topic && [UInt8](message.data) == payload)
            }
            for (topic, payload) in sent where topic == "t/1" {
                let message = try #require(try await some.next())
                #expect(message.topic == topic && [UInt8](message.data) == payload)
            }
        }
    }

    @Test func `readers of bytes, String and Int receive all values in order`() async throws {
        let texts = (0..<1_000).map { "\($0)" }
        let script: ConnectionScript = .connection(
            [.accept(), .serve(until: .subscribe), .answer, .serve(until: .publish(to: "go"))]
                + texts.map { Self.message("t", $0) })
        try await ScriptedWorld.run([script]) { world in
            var bytes = world.client.messages([UInt8].self, from: "t").makeAsyncIterator()
            var strings = world.client.messages(String.self, from: "t").makeAsyncIterator()
            var numbers = world.client.messages(Int.self, from: "t").makeAsyncIterator()
            await world.connect()
            await world.settle()
            try world.client.publishMessage("", topic: "go", qos: .zero)
            for text in texts {
                #expect(try await bytes.next() == Array(text.utf8))
                #expect(try await strings.next() == text)
                #expect(try await numbers.next() == Int(text))
            }
        }
    }

    @Test func `if one reader uses afterProcessing and another onReceipt, a message is acknowledged after processing`()
        async throws
    {
        let script: ConnectionScript = .connection([
            .accept(), .serve(until: .subscribe), .answer,
            Self.message("t", "a", .atLeastOnce(1, isDuplicate: false)),
        ])
        try await ScriptedWorld.run([script]) { world in
            var careful = Self.reader(world, "t", .afterProcessing)
            var careless = Self.reader(world, "t")
            await world.connect()
            try #require(try await careless.next()).acknowledge()
            await world.settle()
            #expect(await world.broker.packets(.pubAck).isEmpty)
            try #require(try await careful.next()).acknowledge()
            await world.settle()
            #expect(await world.broker.packets(.pubAck).count == 1)
        }
    }

    @Test func `messages that arrive right before the connection ends reach the reader`() async throws {
        let flood = PublishFlood(count: 50, topic: "t", payloadSize: 8)
        let script: ConnectionScript = .connection([
            .accept(), .serve(until: .subscribe), .answer, .flood(flood), .cut(.orderly),
        ])
        try await ScriptedWorld.run([script]) { world in
            var messages = Self.reader(world, "t")
            await world.connect()
            for number in 0..<50 {
                let message = try #require(try await messages.next())
                #expect(message.data.reduce(0) { $0 << 8 | Int($1) } == number)
            }
        }
    }

    @Test func `a reader with a full buffer also pauses reading on the next connection`() async throws {
        let count = 20_000
        let flood = PublishFlood(count: count, topic: "t", payloadSize: 100)
        let script: ConnectionScript = .connection([
            .accept(), .serve(until: .subscribe), .answer, .flood(flood),
        ])
        try await ScriptedWorld.run([script, script]) { world in
            let buffer = ReadBuffer(limit: 100, overflow: .pause)
            let messages = world.client.messages(Message.self, from: "t", buffer: buffer).makeAsyncIterator()
            for number in 1...2 {
                await world.connect()
                await world.run(for: .seconds(100))
                let connections = await world.broker.connections
                #expect(connections.count == number)
                #expect(connections.last.map { $0.sentByteCount < count * 100 / 2 } == true, "it was not held up")
                world.client.disconnect()
                await world.settle()
            }
            withExtendedLifetime(messages) {}
        }
    }

    @Test(
        arguments: [
            (ReadBuffer(), true), (ReadBuffer(limit: 100), false),
            (ReadBuffer(limit: 100, overflow: .dropNewest), false),
        ])
    func `messages of QoS 0 that a full buffer drops are counted, and logged once if the app set no buffer`(
        buffer: ReadBuffer, isLogged: Bool
    ) async throws {
        let count = 20_000
        let script: ConnectionScript = .connection([
            .accept(), .serve(until: .subscribe), .answer,
            .flood(PublishFlood(count: count, topic: "t", payloadSize: 9)),
        ])
        let log = WarningLog()
        try await ScriptedWorld.run([script], isScriptChecked: false) {
            $0.logHandler = log
        } _: { world in
            let messages = world.client.messages(Message.self, from: "t", buffer: buffer).makeAsyncIterator()
            await world.connect()
            while world.client.metrics.receivedCount < count { await world.run(for: .seconds(1)) }
            #expect(world.client.metrics.droppedCount == count - buffer.limit)
            #expect(log.warnings.count { $0.contains("QoS 0 were dropped") } == (isLogged ? 1 : 0))
            withExtendedLifetime(messages) {}
        }
    }
}
