import CourierCore
import CourierTesting
import CourierTransport
import MQTTCodec
import TestSupport
import Testing

@testable import CourierMQTT

/// Full readers that wait for an answer of the broker. The answer arrives after messages for which the readers have
/// no room.
@Suite(.timeLimit(.minutes(5))) struct ReadingPauseTests {
    private static let count = 500

    private static func test(at broker: RealBroker, _ id: String) async throws -> TestClient {
        let test = try TestClient(
            ConnectOptions(host: "127.0.0.1", port: broker.port, clientId: id, username: "", password: ""))
        try await test.connect()
        return test
    }

    /// Sends numbers to "in" until all are acknowledged.
    private static func sendAll(_ test: TestClient, _ qos: QoS) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<count {
                group.addTask { try await test.client.publish("\(number)", to: "in", qos: qos) }
            }
            try await group.waitForAll()
        }
    }

    /// Handles each number in a loop with a small buffer, in a separate task.
    private static func handle(
        with test: TestClient, _ qos: QoS = .one, limit: Int, _ body: @escaping @Sendable (String) async throws -> Void
    ) async throws -> Task<Void, any Error> {
        let working = Task {
            var left = count
            let buffer = ReadBuffer(limit: limit, overflow: .pause)
            for try await text in test.client.messages(String.self, from: "in", qos: qos, buffer: buffer) {
                try await body(text)
                left -= 1
                if left == 0 { break }
            }
        }
        try await test.wait(for: "subscribeSuccess")
        return working
    }

    @Test(arguments: [QoS.one, .two])
    func `a loop that awaits publish() for each message continues even if the loop's buffer is full`(_ qos: QoS)
        async throws
    {
        let broker = try await RealBroker(settings: "max_queued_messages 0")
        let (sender, worker) = (try await Self.test(at: broker, "sender"), try await Self.test(at: broker, "worker"))
        let seen = Series<String>()
        let working = try await Self.handle(with: worker, qos, limit: 10) { text in
            try await worker.client.publish(text, to: "out", qos: qos)
            seen.append(text)
        }
        try await Self.sendAll(sender, qos)
        try await working.value
        #expect(Set(seen.values).count == Self.count)
        try await worker.end()
        try await sender.end()
        await broker.stop()
    }

    @Test func `a loop that awaits request() for each message continues even if the loop's buffer is full`()
        async throws
    {
        let broker = try LoopbackBroker.start()
        let (sender, worker) = (try TestClient(.local(broker.port)), try TestClient(.local(broker.port)))
        try await sender.connect()
        try await worker.connect()
        let responder = Task {
            try await sender.client.respond(to: "square") { (text: String) in "\((Int(text) ?? 0) * 2)" }
        }
        try await sender.wait(for: "subscribeSuccess")
        let answers = Series<String>()
        let working = try await Self.handle(with: worker, limit: 300) { text in
            answers.append(try await worker.client.request(text, to: "square", timeout: .seconds(120)))
        }
        try await Self.sendAll(sender, .one)
        try await working.value
        #expect(Set(answers.values).count == Self.count)
        responder.cancel()
        _ = await responder.result
        try await worker.end()
        try await sender.end()
        await broker.shutdown()
    }

    /// A broker that sends 30 messages in three parts. The second and third part follow when the client publishes to
    /// "x" and to "y". The broker does not answer these publishes.
    private static func thirtyMessages() -> ConnectionScript {
        .connection(
            [.accept(), .serve(until: .subscribe), .answer] + messages(1...12)
                + [.serve(until: .publish(to: "x"))] + messages(13...24)
                + [.serve(until: .publish(to: "y"))] + messages(25...30))
    }

    /// A reader that is full after ten messages.
    private static func smallReader(_ world: ScriptedWorld) -> MessageSequence<Message>.Iterator {
        world.client.messages(
            Message.self, from: "t", qos: .one, buffer: ReadBuffer(limit: 10, overflow: .pause)
        ).makeAsyncIterator()
    }

    @Test
    func `if a reader's buffer has reached twice its limit, new messages are acknowledged only when there is room`()
        async throws
    {
        try await ScriptedWorld.run([Self.thirtyMessages()]) { world in
            var messages = Self.smallReader(world)
            await world.connect()
            for topic in ["x", "y"] {
                try world.client.publishMessage("", topic: topic, qos: .one)
                await world.run(for: .seconds(1))
            }
            let early = await ScriptedReadingTests.acknowledged(world)
            #expect(early == Array(1..<25), "the broker is told to go on sending, or held up too early")
            for number in 1...30 {
                let message = try await messages.next()
                #expect(message?.packetID == UInt16(number))
            }
            await world.run(for: .seconds(1))
            #expect(await ScriptedReadingTests.acknowledged(world) == Array(1...30))
        }
    }

    @Test func `if a slow reader's buffer has reached twice its limit, acknowledgements wait for the slow reader`()
        async throws
    {
        try await ScriptedWorld.run([Self.thirtyMessages()]) { world in
            var slow = Self.smallReader(world)
            var fast = world.client.messages(
                Message.self, from: "t", qos: .one, acknowledge: .afterProcessing
            ).makeAsyncIterator()
            await world.connect()
            for topic in ["x", "y"] {
                try world.client.publishMessage("", topic: topic, qos: .one)
                await world.run(for: .seconds(1))
            }
            for _ in 1...30 { try #require(try await fast.next()).acknowledge() }
            await world.run(for: .seconds(1))
            #expect(await ScriptedReadingTests.acknowledged(world) == Array(1..<25))
            for _ in 1...30 { _ = try await slow.next() }
            await world.run(for: .seconds(1))
            #expect(await ScriptedReadingTests.acknowledged(world) == Array(1...30))
        }
    }

    enum Timeout: CaseIterable {
        case acknowledgement
        case ping
        case idleness
    }

    @Test(arguments: Timeout.allCases)
    func `the connection times out if the broker is silent while a reader's buffer is full`(
        _ timeout: Timeout
    ) async throws {
        let script = ConnectionScript.connection(
            [.accept(), .serve(until: .subscribe), .answer] + Self.messages(1...10)
                + [.serve(until: .publish(to: "x")), .stall])
        let provider = ScriptedProvider([], keepAlive: timeout == .ping ? 10 : 0)
        try await ScriptedWorld.run([script], provider: provider) {
            $0.session.acknowledgementTimeout = timeout == .acknowledgement ? .seconds(20) : nil
            $0.idleActivityTimeoutPolicy = IdleActivityTimeoutPolicy(isEnabled: timeout == .idleness)
        } _: { world in
            let messages = Self.smallReader(world)
            await world.connect()
            try world.client.publishMessage("", topic: "x", qos: .one)
            await world.run(for: .seconds(60))
            #expect(world.errors(of: "connectionLost").map(\.code) == [.timedOut])
            #expect(await world.broker.connections.count == 2)
            withExtendedLifetime(messages) {}
        }
    }

    private static func messages(_ ids: ClosedRange<UInt16>) -> [ScriptStep] {
        ids.compactMap { PacketID(rawValue: $0) }.map { ScriptedReadingTests.message($0, "\($0)") }
    }
}
