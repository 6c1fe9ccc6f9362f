import CourierCore
import CourierTesting
import Dispatch
import MQTTCodec
import TestSupport
import Testing

@testable import CourierMQTT

/// Received messages, and the time of their acknowledgement.
@Suite(.timeLimit(.minutes(5))) struct ScriptedReadingTests {
    static func message(_ id: PacketID, _ text: String, qos: QoS = .one, again: Bool = false) -> ScriptStep {
        let delivery: Delivery =
            qos == .one ? .atLeastOnce(id, isDuplicate: again) : .exactlyOnce(id, isDuplicate: again)
        return .send(.publish(Publish(topic: "t", payload: Array(text.utf8), delivery: delivery)))
    }

    /// A broker that runs `steps` after the client has subscribed.
    static func broker(_ steps: ScriptStep..., accept: ScriptStep = .accept()) -> ConnectionScript {
        .connection([accept, .serve(until: .subscribe), .answer] + steps)
    }

    static func acknowledged(_ world: ScriptedWorld, on connection: Int? = nil) async -> [UInt16] {
        await world.broker.packets(.any, on: connection).compactMap {
            switch $0.packet {
            case .pubAck(let answer), .pubRec(let answer): answer.packetID.rawValue
            default: nil
            }
        }
    }

    static func reader(
        _ world: ScriptedWorld, _ mode: AcknowledgementMode = .afterProcessing
    ) -> MessageSequence<Message>.Iterator {
        world.client.messages(Message.self, from: "t", qos: .two, acknowledge: mode).makeAsyncIterator()
    }

    static func expectNext(
        _ text: String, of messages: inout MessageSequence<Message>.Iterator,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let message = try await messages.next()
        #expect(message?.payloadString == text, sourceLocation: sourceLocation)
    }

    @Test(arguments: [QoS.one, .two])
    func `a message is acknowledged only when the loop asks for the next message`(_ qos: QoS) async throws {
        let script = Self.broker(Self.message(1, "a", qos: qos), Self.message(2, "b", qos: qos))
        try await ScriptedWorld.run([script]) { world in
            var messages = Self.reader(world)
            await world.connect()
            try await Self.expectNext("a", of: &messages)
            await world.run(for: .seconds(100))
            #expect(await Self.acknowledged(world).isEmpty)
            try await Self.expectNext("b", of: &messages)
            await world.settle()
            #expect(await Self.acknowledged(world) == [1])
        }
    }

    @Test func `acknowledge() sends the acknowledgement at once and only once`() async throws {
        let script = Self.broker(Self.message(1, "a"))
        try await ScriptedWorld.run([script]) { world in
            var messages = Self.reader(world)
            await world.connect()
            let message = try #require(try await messages.next())
            message.acknowledge()
            message.acknowledge()
            await world.settle()
            #expect(await Self.acknowledged(world) == [1])
        }
    }

    @Test func `with acknowledge = onReceipt, a message is acknowledged before it is read`() async throws {
        let script = Self.broker(Self.message(1, "a"), Self.message(2, "b", qos: .two))
        try await ScriptedWorld.run([script]) { world in
            let messages = Self.reader(world, .onReceipt)
            await world.connect()
            #expect(await Self.acknowledged(world) == [1, 2])
            withExtendedLifetime(messages) {}
        }
    }

    @Test func `a message with several readers is acknowledged after every reader has acknowledged the message`()
        async throws
    {
        let script = Self.broker(Self.message(1, "a"))
        try await ScriptedWorld.run([script]) { world in
            var first = Self.reader(world)
            var second = Self.reader(world)
            await world.connect()
            let one = try #require(try await first.next())
            let two = try #require(try await second.next())
            one.acknowledge()
            one.acknowledge()
            await world.settle()
            #expect(await Self.acknowledged(world).isEmpty)
            two.acknowledge()
            await world.settle()
            #expect(await Self.acknowledged(world) == [1])
        }
    }

    /// [MQTT-4.6.0-2]
    @Test func `acknowledgements are sent in the order of the messages`() async throws {
        let script = Self.broker(Self.message(1, "a"), Self.message(2, "b"), Self.message(3, "c"))
        try await ScriptedWorld.run([script]) { world in
            var all = Self.reader(world)
            var slow = world.client.messages(Message.self, from: "+", acknowledge: .afterProcessing).makeAsyncIterator()
            await world.connect()
            for _ in 0..<3 { try #require(try await all.next()).acknowledge() }
            let first = try #require(try await slow.next())
            let second = try #require(try await slow.next())  // This request finishes the first message.
            await world.settle()
            #expect(await Self.acknowledged(world) == [1])
            let third = try #require(try await slow.next())
            third.acknowledge()
            first.acknowledge()
            second.acknowledge()
            await world.settle()
            #expect(await Self.acknowledged(world) == [1, 2, 3])
        }
    }

    @Test func `messages that a loop did not acknowledge before it ended are delivered to the next reader`()
        async throws
    {
        let script = Self.broker(Self.message(1, "a"), Self.message(2, "b"), Self.message(3, "c"))
        try await ScriptedWorld.run([script]) { world in
            try await world.client.subscribeAndSettle("t", world)
            do {
                var messages = Self.reader(world)
                await world.connect()
                try await Self.expectNext("a", of: &messages)
                try await Self.expectNext("b", of: &messages)
            }  // "a" is done, "b" was begun, "c" was not.
            await world.settle()
            #expect(await Self.acknowledged(world) == [1])
            var next = Self.reader(world)
            try await Self.expectNext("b", of: &next)
            try await Self.expectNext("c", of: &next)
            await world.settle()
            #expect(await Self.acknowledged(world) == [1, 2])
        }
    }

    @Test func `an unacknowledged message is received again on the next connection`() async throws {
        let script: [ConnectionScript] = [
            .connection([
                .accept(), .serve(until: .subscribe), .answer, Self.message(1, "a"), .serve(until: .publish(to: "cut")),
                .cut(.reset),
            ]),
            .connection([.accept(isSessionPresent: true), Self.message(1, "a", again: true)]),
        ]
        try await ScriptedWorld.run(script) { world in
            var messages = Self.reader(world)
            await world.connect()
            let first = try #require(try await messages.next())
            #expect(!first.isDuplicate)
            try world.client.publishMessage("", topic: "cut", qos: .zero)
            await world.run(for: .seconds(1))
            // The body of the loop has not ended, so the repeated message is delivered after it.
            let second = try #require(try await messages.next())
            #expect(second.isDuplicate && second.payloadString == "a")
            second.acknowledge()
            await world.settle()
            #expect(await Self.acknowledged(world, on: 2) == [1])
        }
    }

    @Test func `a repeated QoS 2 message is delivered to the loop once`() async throws {
        let script = Self.broker(
            Self.message(1, "a", qos: .two), Self.message(1, "a", qos: .two, again: true), Self.message(2, "b"))
        try await ScriptedWorld.run([script]) { world in
            var messages = Self.reader(world, .onReceipt)
            await world.connect()
            try await Self.expectNext("a", of: &messages)
            try await Self.expectNext("b", of: &messages)
        }
    }

    // MARK: Floods

    @Test func `the client sends DISCONNECT 0x93 if the broker exceeds the receive maximum`() async throws {
        let flood = PublishFlood(count: 20, topic: "t", qos: .atLeastOnce, exceedsReceiveMaximum: true)
        try await ScriptedWorld.run([Self.broker(.flood(flood))]) {
            $0.limits.receiveMaximum = 5
        } _: { world in
            let messages = Self.reader(world)
            await world.connect()
            #expect(
                await world.broker.packets(.disconnect, on: 1).first?.packet.disconnect?.reasonCode
                    == .receiveMaximumExceeded)
            #expect(world.errors(of: "connectionLost").map(\.code) == [.protocolViolation])
            #expect(await world.broker.connections[0].connect?.properties.receiveMaximum == 5)
            withExtendedLifetime(messages) {}
        }
    }

    @Test(arguments: [false, true])
    func `with a slow reader, the client stops reading from the broker and loses no message`(
        _ isSilenceWatched: Bool
    ) async throws {
        let count = 20_000
        let flood = PublishFlood(count: count, topic: "t", payloadSize: 100, qos: .atLeastOnce)
        try await ScriptedWorld.run([Self.broker(.flood(flood))]) {
            $0.idleActivityTimeoutPolicy = IdleActivityTimeoutPolicy(
                isEnabled: isSilenceWatched, inactivityTimeout: 10, readTimeout: 40)
        } _: { world in
            let buffer = ReadBuffer(limit: 100, overflow: .pause)
            var messages = world.client.messages(Message.self, from: "t", buffer: buffer).makeAsyncIterator()
            await world.connect()
            let sent = await world.broker.connections[0].sentByteCount
            #expect(sent < count * 100 / 2, "the flood was not held up")
            await world.run(for: .seconds(100))
            #expect(await world.broker.connections[0].sentByteCount == sent)
            for number in 0..<count {
                let data = try #require(try await messages.next()?.data)
                guard data.prefix(8).reduce(0, { $0 << 8 | Int($1) }) == number else {
                    Issue.record("message \(number) is missing")
                    return
                }
            }
            #expect(world.client.connectionState == .connected)
            #expect(await world.broker.connections.count == 1)
        }
    }

    @Test func `QoS 0 messages beyond the buffer limit are dropped as the overflow policy says`() async throws {
        let flood = PublishFlood(count: 1_000, topic: "t", payloadSize: 8)
        try await ScriptedWorld.run([Self.broker(.flood(flood))]) { world in
            var newest = world.client.messages(
                Message.self, from: "t", buffer: ReadBuffer(limit: 10, overflow: .dropOldest)
            ).makeAsyncIterator()
            var oldest = world.client.messages(
                Message.self, from: "t", buffer: ReadBuffer(limit: 10, overflow: .dropNewest)
            ).makeAsyncIterator()
            await world.connect()
            func read(_ iterator: inout MessageSequence<Message>.Iterator) async throws -> [Int] {
                var numbers: [Int] = []
                for _ in 0..<10 {
                    numbers.append(try #require(try await iterator.next()).data.reduce(0) { $0 << 8 | Int($1) })
                }
                return numbers
            }
            let (last, first) = (try await read(&newest), try await read(&oldest))
            #expect(last == Array(990..<1_000))
            #expect(first == Array(0..<10))
        }
    }

    /// Receives and keeps five messages, runs `body`, and expects that the next reader receives the last two.
    private static func runWithKept(_ isStored: Bool, _ body: (ScriptedWorld) async throws -> Void) async throws {
        let script = ConnectionScript.connection([
            .accept(), message(1, "a"), message(2, "b"), message(3, "c"), message(4, "d"), message(5, "e"),
        ])
        try await ScriptedWorld.run([script]) {
            $0.messagePersistenceTTLSeconds = 60
            if isStored { $0.messageStore = ControlledStore() }
        } _: { world in
            await world.connect()
            await world.until { await acknowledged(world) == [1, 2, 3, 4, 5] }
            try await body(world)
            var messages = reader(world, .onReceipt)
            try await expectNext("d", of: &messages)
            try await expectNext("e", of: &messages)
            await world.run(for: .seconds(90))
            #expect(world.errors(of: "messageReceiveFailure").isEmpty)
        }
    }

    @Test(arguments: [false, true])
    func `kept messages that an ended loop did not read are delivered to the next reader`(_ isStored: Bool) async throws
    {
        try await Self.runWithKept(isStored) { world in
            var texts: [String] = []
            for try await message in world.client.messages(Message.self, from: "t").prefix(3) {
                texts.append(message.payloadString ?? "")
            }
            #expect(texts == ["a", "b", "c"])
        }
    }

    @Test(arguments: [false, true])
    func `unread kept messages of a cancelled messagePublisher are delivered to the next reader`(_ isStored: Bool)
        async throws
    {
        try await Self.runWithKept(isStored) { world in
            let seen = Series<String>()
            let subscription = Box<AnyCancellable>()
            world.test.queue.sync {
                subscription.value = world.client.messagePublisher(topic: "t").sink { (message: Message) in
                    seen.append(message.payloadString ?? "")
                    if seen.values.count == 3 { subscription.value?.cancel() }
                }
            }
            await world.until { seen.values.count == 3 }
            #expect(seen.values == ["a", "b", "c"])
            subscription.value = nil
        }
    }

    @Test func `without event listeners, messages that cannot be decoded are logged once a minute`() async throws {
        let log = WarningLog()
        let script = Self.broker(
            Self.message(1, "hidden"), Self.message(2, "hidden"), .pause(.seconds(61)), Self.message(3, "hidden"))
        try await ScriptedWorld.run([script]) {
            $0.logHandler = log
        } _: { world in
            world.test.stopListening()
            try await world.client.subscribeAndSettle("t", world)
            let sink = world.client.messagePublisher(topic: "t").sink { (_: Int) in }
            await world.connect()
            #expect(log.warnings.count == 1)
            #expect(log.warnings.first?.contains("A message on \("t".quoted()) could not be used") == true)
            #expect(log.warnings.first?.contains("decodingFailed") == true)
            await world.run(for: .seconds(62))
            #expect(log.warnings.count == 2)
            #expect(!log.warnings.contains { $0.contains("hidden") })
            sink.cancel()
        }
    }

    @Test func `a messagePublisher with an invalid topic filter is reported as an event and in the log`() async throws {
        let log = WarningLog()
        try await ScriptedWorld.run {
            $0.logHandler = log
        } _: { world in
            let sink = world.client.messagePublisher(topic: "a/#/b").sink { (_: String) in }
            await world.settle()
            #expect(world.errors(of: "messageReceiveFailure").map(\.code) == [.invalidTopicFilter])
            #expect(log.warnings.count == 1)
            #expect(log.warnings.first?.contains("a/#/b".quoted()) == true)
            sink.cancel()
        }
    }

    @Test func `a message that cannot be decoded is logged if all event listeners have been removed`() async throws {
        final class Handler: ICourierEventHandler, Sendable {
            func onEvent(_ event: CourierEvent) {}
        }
        let log = WarningLog()
        let script = Self.broker(.serve(until: .publish(to: "go")), Self.message(1, "hidden"))
        try await ScriptedWorld.run([script]) {
            $0.logHandler = log
        } _: { world in
            world.test.stopListening()
            try await world.client.subscribeAndSettle("t", world)
            let sink = world.client.messagePublisher(topic: "t").sink { (_: Int) in }
            await world.connect()
            await world.until { world.client.connectionState == .connected }
            do {
                let handler = Handler()
                world.client.addEventHandler(handler)
                let letters = world.client.deadLetterPublisher.sink { _ in }
                await world.settle()
                letters.cancel()
            }
            try world.client.publishMessage("", topic: "go", qos: .zero)
            await world.until { !log.warnings.isEmpty }
            #expect(log.warnings.count == 1)
            #expect(log.warnings.first?.contains("could not be used") == true)
            sink.cancel()
        }
    }

    @Test func `a message without a reader is reported as noReader at once, or after messagePersistenceTTLSeconds`()
        async throws
    {
        try await ScriptedWorld.run([.connection([.accept(), Self.message(1, "a")])]) { world in
            await world.connect()
            #expect(world.errors(of: "messageReceiveFailure").map(\.code) == [.noReader])
            #expect(await Self.acknowledged(world) == [1])
        }
        try await ScriptedWorld.run([
            .connection([.accept(), Self.message(1, "a"), .pause(.seconds(21)), Self.message(2, "b")])
        ]) {
            $0.messagePersistenceTTLSeconds = 30
        } _: { world in
            await world.connect()
            await world.run(for: .seconds(45))
            #expect(world.errors(of: "messageReceiveFailure").map(\.code) == [.noReader])  // Only "a" is over.
            var messages = Self.reader(world)
            try await Self.expectNext("b", of: &messages)
        }
    }
}

extension MQTTClient {
    /// Subscribes to a filter, so that readers that start or end later do not change the broker's subscriptions.
    func subscribeAndSettle(_ filter: String, _ world: ScriptedWorld) async throws {
        subscribe((filter, .two))
        await world.settle()
    }
}
