import CourierTransport
import MQTTCodec
import MQTTEngine
import Testing

@testable import CourierMQTT

/// The guarantees of a session over every transport, with this package's broker and a real mosquitto.
@Suite(.timeLimit(.minutes(10)))
struct WireTests {
    /// A broker, the event loop, and a factory for sessions that connect to the broker.
    private struct Bench: Sendable {
        let broker: WireBroker
        let peer: WireCase.Peer
        let loop: EventLoop
        let version: ProtocolVersion
        let tls: TLSContext?

        func session(
            _ id: String, clean: Bool = false, record: ExactlyOnceRecord? = nil,
            _ change: (inout EngineConfiguration) -> Void = { _ in }
        ) async throws -> TestSession {
            let session = TestSession(version, id: id, on: loop) {
                $0.connect.isCleanStart = clean
                // mosquitto disconnects a client with more QoS 2 messages in flight, and MQTT 3.1.1 has no property
                // for this limit.
                $0.maximumInFlightBeforeVersion5 = 20
                change(&$0)
            }
            try await connect(session, record)
            return session
        }

        /// Connects, and passes the packets of the connection to `record`.
        func connect(_ session: TestSession, _ record: ExactlyOnceRecord? = nil) async throws {
            try await session.connect(to: broker.endpoint, tls: tls, tap: record?.tap())
        }

        /// Ends the connection without DISCONNECT, like a network failure.
        func drop(_ session: TestSession) async throws {
            let before = session.record.ends.count
            loop.execute { session.driver.abort() }
            try await session.wait("to be dropped") { $0.ends.count > before }
        }
    }

    private func withBench(
        _ wireCase: WireCase, _ body: @escaping @Sendable (Bench) async throws -> Void
    ) async throws {
        try await WireBroker.with(wireCase) { broker in
            let loop = try EventLoop()
            do {
                let tls = try broker.clientTLS.map { configuration throws(TransportError) in
                    try TLSContext(client: configuration)
                }
                try await body(
                    Bench(broker: broker, peer: wireCase.peer, loop: loop, version: wireCase.version, tls: tls))
            } catch {
                await loop.shutdown()
                throw error
            }
            await loop.shutdown()
        }
    }

    @Test(arguments: WireCase.all)
    func `two sessions send messages of every QoS to each other in order`(_ wireCase: WireCase) async throws {
        try await withBench(wireCase) { bench in
            let sessions = [try await bench.session("one"), try await bench.session("two")]
            for (number, session) in sessions.enumerated() {
                try await session.subscribe("to/\(number)", qos: .exactlyOnce)
            }
            for number in 0..<60 {
                for (from, session) in sessions.enumerated() {
                    try await session.publish(
                        "to/\(1 - from)", [UInt8(number)], qos: PacketQoS(rawValue: UInt8(number % 3)) ?? .atMostOnce,
                        token: Token(rawValue: UInt64(100 + number)))
                }
            }
            for session in sessions {
                try await session.wait("for 60 messages") { $0.messages.count == 60 && $0.acknowledged.count == 40 }
                for qos in PacketQoS.allCases {
                    let numbers = session.record.messages.filter { $0.qos == qos }.flatMap(\.payload)
                    #expect(numbers == stride(from: UInt8(qos.rawValue), to: 60, by: 3).map(\.self))
                }
                try await session.disconnect()
                #expect(session.record.ends == [.requested])
            }
        }
    }

    @Test(arguments: WireCase.all)
    func `a payload of 1 MiB is received unchanged at every QoS`(_ wireCase: WireCase) async throws {
        try await withBench(wireCase) { bench in
            let session = try await bench.session("big")
            try await session.subscribe("big", qos: .exactlyOnce)
            let payload = LargePayload.bytes
            for (number, qos) in PacketQoS.allCases.enumerated() {
                try await session.publish("big", payload, qos: qos, token: Token(rawValue: UInt64(10 + number)))
            }
            try await session.wait("for three payloads") { $0.messages.count == 3 && $0.acknowledged.count == 2 }
            for message in session.record.messages { #expect(message.payload == payload, "QoS \(message.qos)") }
            try await session.disconnect()
        }
    }

    @Test(arguments: WireCase.all)
    func `a retained message is sent to later subscribers until it is cleared`(_ wireCase: WireCase) async throws {
        try await withBench(wireCase) { bench in
            let sender = try await bench.session("sender")
            try await sender.publish("kept", [1, 2, 3], qos: .atLeastOnce, isRetained: true, token: 10)
            try await sender.wait("for its acknowledgement") { $0.acknowledged[10] != nil }

            let reader = try await bench.session("reader")
            try await reader.subscribe("kept", qos: .atLeastOnce)
            try await reader.wait("for what was retained") { !$0.messages.isEmpty }
            #expect(reader.record.messages.map(\.payload) == [[1, 2, 3]])
            #expect(reader.record.messages.map(\.isRetained) == [true])

            try await sender.publish("kept", [], qos: .atLeastOnce, isRetained: true, token: 11)
            try await sender.wait("for its acknowledgement") { $0.acknowledged[11] != nil }
            let late = try await bench.session("late")
            try await late.subscribe("kept", qos: .atLeastOnce)
            try await sender.publish("kept", [4], qos: .atLeastOnce, token: 12)
            try await late.wait("for the marker") { !$0.messages.isEmpty }
            #expect(late.record.messages.map(\.payload) == [[4]])
            for session in [sender, reader, late] { try await session.disconnect() }
        }
    }

    @Test(arguments: WireCase.all)
    func `the will is published after a lost connection, but not after DISCONNECT`(
        _ wireCase: WireCase
    ) async throws {
        try await withBench(wireCase) { bench in
            let witness = try await bench.session("witness")
            try await witness.subscribe("will/+", qos: .atLeastOnce)
            let polite = try await bench.session("polite") {
                $0.connect.will = .init(topic: "will/polite", payload: [1], qos: .atLeastOnce)
            }
            try await polite.disconnect()
            let lost = try await bench.session("lost") {
                $0.connect.will = .init(topic: "will/lost", payload: [2], qos: .atLeastOnce)
            }
            try await bench.drop(lost)
            try await witness.wait("for the will") { $0.messages.contains { $0.topic == "will/lost" } }
            #expect(witness.record.messages.map(\.topic) == ["will/lost"])
            #expect(witness.record.messages.map(\.payload) == [[2]])
            try await witness.disconnect()
        }
    }

    @Test(arguments: WireCase.all)
    func `a session resumes after lost connections and loses no QoS 1 or QoS 2 message`(_ wireCase: WireCase)
        async throws
    {
        try await withBench(wireCase) { bench in
            let (received, sent) = (ExactlyOnceRecord(wireCase.version), ExactlyOnceRecord(wireCase.version))
            let receiver = try await bench.session("receiver", record: received)
            try await receiver.subscribe("n", qos: .exactlyOnce)
            let sender = try await bench.session("sender", record: sent)
            let (rounds, perRound) = (4, 100)
            for round in 0..<rounds {
                for number in (round * perRound)..<((round + 1) * perRound) {
                    try await sender.publish(
                        "n", [UInt8(number >> 8), UInt8(number & 0xFF)],
                        qos: number % 2 == 0 ? .exactlyOnce : .atLeastOnce,
                        token: Token(rawValue: UInt64(1_000 + number)))
                }
                // The connections end while messages are in flight.
                try await bench.drop(sender)
                try await bench.drop(receiver)
                try await bench.connect(sender, sent)
                try await bench.connect(receiver, received)
            }
            let count = rounds * perRound
            try await sender.wait("for all acknowledgements") { $0.acknowledged.count == count }
            try await receiver.wait("for all messages") { Set($0.messages.map(\.payload)).count == count }
            for session in [sender, receiver] { try await session.disconnect() }
            let exactlyOnce = receiver.record.messages.filter { $0.qos == .exactlyOnce }.map(\.payload)
            #expect(Set(exactlyOnce).count == count / 2)
            // mosquitto 2.0.11 begins a second exchange for some messages after lost connections. The client must pass
            // a message to the app once for each exchange, and must not cause a second exchange as a sender.
            #expect(Dictionary(grouping: exactlyOnce) { $0 }.mapValues(\.count) == received.exchanges)
            if bench.peer == .loopback { #expect(exactlyOnce.count == count / 2) }
            #expect(sent.violations.isEmpty)
            #expect(sender.record.failed.isEmpty)
        }
    }

    @Test(arguments: WireCase.wires)
    func `a clean start removes the subscription of the earlier session`(_ wireCase: WireCase) async throws {
        try await withBench(wireCase) { bench in
            let first = try await bench.session("same")
            try await first.subscribe("old", qos: .atLeastOnce)
            try await bench.drop(first)
            let second = try await bench.session("same", clean: true)
            try await second.publish("old", [1], qos: .atLeastOnce, token: 10)
            try await second.wait("for the answer") { $0.acknowledged[10] != nil }
            try await second.subscribe("new", qos: .atLeastOnce)
            try await second.publish("new", [2], qos: .atLeastOnce, token: 11)
            try await second.wait("for the marker") { !$0.messages.isEmpty }
            #expect(second.record.messages.map(\.payload) == [[2]])
            try await second.disconnect()
        }
    }
}
