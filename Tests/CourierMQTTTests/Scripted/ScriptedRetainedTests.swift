import CourierCore
import CourierTesting
import MQTTCodec
import TestSupport
import Testing

@testable import CourierMQTT

/// The reader that receives an ended reader's unread retained messages. The broker sends retained messages again only
/// after a SUBSCRIBE.
@Suite(.timeLimit(.minutes(5))) struct ScriptedRetainedTests {
    private static func subscribe(to filter: String) -> PacketPattern {
        PacketPattern(.subscribe, "SUBSCRIBE to \(filter)") { packet in
            packet.subscribe?.subscriptions.contains { $0.filter == filter } ?? false
        }
    }

    private static func loop(_ world: ScriptedWorld, _ filter: String) -> MessageSequence<Message>.Iterator {
        world.client.messages(Message.self, from: filter, qos: .one).makeAsyncIterator()
    }

    /// The broker sends nothing to the second reader: the client is already subscribed to "t", and a shared
    /// subscription receives no retained messages (MQTT 5.0 §4.8.2).
    @Test(arguments: ["t", "$share/g/t"])
    func `a reader receives an ended reader's unread retained message if the broker sends no copy`(_ filter: String)
        async throws
    {
        let script = ScriptedUnreadTests.broker(["a", "b"], isRetained: true)
        try await ScriptedUnreadTests.run(script) { world in
            try await world.client.subscribeAndSettle("t", world)
            var next: MessageSequence<Message>.Iterator?
            do {
                var first = Self.loop(world, "+")
                try await ScriptedUnreadTests.receiveAll(2, in: world)
                try await ScriptedReadingTests.expectNext("a", of: &first)
                next = Self.loop(world, filter)
                await world.settle()
                withExtendedLifetime(first) {}
            }
            await world.settle()
            var messages = try #require(next)
            try await ScriptedReadingTests.expectNext("b", of: &messages)
        }
    }

    /// [MQTT-3.3.1-9]
    @Test func `a messagePublisher created before subscribe() receives a retained message only once`() async throws {
        let script = ConnectionScript.connection([
            .accept(), .serve(until: .subscribe), .answer, ScriptedUnreadTests.message(1, "b", isRetained: true),
            .serve(until: Self.subscribe(to: "t")), .answer, ScriptedUnreadTests.message(2, "b", isRetained: true),
        ])
        try await ScriptedUnreadTests.run(script) { world in
            let values = Series<String>()
            var sink: AnyCancellable?
            do {
                let first = Self.loop(world, "+")
                await world.connect()
                await world.until { world.events.contains("messageReceive") }
                sink = world.client.messagePublisher(topic: "t").sink { (text: String) in values.append(text) }
                await world.settle()
                world.client.subscribe(("t", .one))
                await world.until { values.values == ["b"] }
                withExtendedLifetime(first) {}
            }
            await world.run(for: .seconds(1))
            #expect(values.values == ["b"])
            sink?.cancel()
        }
    }

    @Test func `a reader receives a retained message only once, even if an ended reader had a higher QoS`()
        async throws
    {
        let script = ConnectionScript.connection([
            .accept(), .serve(until: Self.subscribe(to: "t")), .answer,
            ScriptedUnreadTests.message(1, "a", isRetained: true),
            .serve(until: Self.subscribe(to: "t")), .answer, ScriptedUnreadTests.message(2, "a", isRetained: true),
            .serve(until: .publish(to: "go")), ScriptedUnreadTests.message(3, "end"),
        ])
        try await ScriptedUnreadTests.run(script) { world in
            var next: MessageSequence<Message>.Iterator?
            do {
                let first = world.client.messages(Message.self, from: "t", qos: .two).makeAsyncIterator()
                await world.connect()
                await world.until { world.events.contains("messageReceive") }
                next = Self.loop(world, "t")
                await world.settle()
                withExtendedLifetime(first) {}
            }
            await world.until { world.events.count { $0 == "messageReceive" } == 2 }
            try world.client.publishMessage("", topic: "go", qos: .zero)
            var messages = try #require(next)
            try await ScriptedReadingTests.expectNext("a", of: &messages)
            try await ScriptedReadingTests.expectNext("end", of: &messages)
        }
    }

    /// [MQTT-3.3.1-12], [MQTT-3.3.1-13]: new messages also have the retain flag, but the broker retains only the last.
    @Test func `with keepsRetainFlag, all unread retained messages are delivered to the next reader`() async throws {
        try await ScriptedWorld.run([ScriptedUnreadTests.broker(["a", "b"], isRetained: true)]) {
            $0.messagePersistenceTTLSeconds = 60
            $0.session.subscriptionOptions.keepsRetainFlag = true
        } _: { world in
            var next: MessageSequence<Message>.Iterator?
            do {
                let first = Self.loop(world, "t")
                try await ScriptedUnreadTests.receiveAll(2, in: world)
                next = Self.loop(world, "+")
                await world.until { await world.broker.packets(Self.subscribe(to: "+")).count == 1 }
                withExtendedLifetime(first) {}
            }
            await world.settle()
            var messages = try #require(next)
            for text in ["a", "b"] { try await ScriptedReadingTests.expectNext(text, of: &messages) }
        }
    }

    @Test
    func `with keepsRetainFlag, an ended reader's retained messages are reported as noReader if no reader follows`()
        async throws
    {
        try await ScriptedWorld.run([ScriptedUnreadTests.broker(["a", "b"], isRetained: true)]) {
            $0.session.subscriptionOptions.keepsRetainFlag = true
        } _: { world in
            do {
                let first = Self.loop(world, "t")
                try await ScriptedUnreadTests.receiveAll(2, in: world)
                withExtendedLifetime(first) {}
            }
            await world.settle()
            #expect(world.errors(of: "messageReceiveFailure").map(\.code) == [.noReader, .noReader])
        }
    }
}
