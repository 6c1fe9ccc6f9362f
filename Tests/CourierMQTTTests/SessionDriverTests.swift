import CourierTesting
import CourierTransport
import MQTTCodec
import MQTTEngine
import TestSupport
import Testing

@testable import CourierMQTT

/// Each test runs with the broker of this package, over TCP and in memory, or with a real mosquitto.
@Suite
struct SessionDriverTests {
    enum Peer: String, CaseIterable, Sendable {
        case mosquitto, loopback, memory
    }

    static let peers: [(Peer, ProtocolVersion)] = Peer.allCases.flatMap { peer in
        [ProtocolVersion.v311, .v5].map { (peer, $0) }
    }

    /// A real mosquitto or a broker of this package. It stops at the end of the test.
    private enum Broker {
        case real(RealBroker)
        case ours(LoopbackBroker, inMemory: Bool)

        init(_ peer: Peer) async throws {
            switch peer {
            case .mosquitto: self = .real(try await RealBroker())
            case .loopback: self = .ours(try LoopbackBroker.start(), inMemory: false)
            case .memory: self = .ours(try LoopbackBroker.start(), inMemory: true)
            }
        }

        var endpoint: TransportEndpoint {
            switch self {
            case .real(let broker): broker.endpoint
            case .ours(let broker, false): broker.endpoint
            case .ours(let broker, true): broker.connectInMemory(bytesPerCall: 7)
            }
        }

        func shutdown() async {
            switch self {
            case .real(let broker): await broker.stop()
            case .ours(let broker, _): await broker.shutdown()
            }
        }
    }

    @Test(arguments: peers)
    func `a session receives its own messages of every QoS in order`(peer: Peer, version: ProtocolVersion) async throws
    {
        let broker = try await Broker(peer)
        let loop = try EventLoop()
        let session = TestSession(version, on: loop)
        try await session.connect(to: broker.endpoint)
        try await session.subscribe("echo/+", qos: .exactlyOnce)
        for number in 0..<30 {
            try await session.publish(
                "echo/\(number % 3)", [UInt8(number)], qos: PacketQoS(rawValue: UInt8(number % 3)) ?? .atMostOnce,
                token: Token(rawValue: UInt64(number)))
        }
        try await session.wait("for 30 messages") { $0.messages.count == 30 && $0.acknowledged.count == 20 }
        for qos in PacketQoS.allCases {
            let numbers = session.record.messages.filter { $0.qos == qos }.flatMap(\.payload)
            #expect(numbers == stride(from: UInt8(qos.rawValue), to: 30, by: 3).map(\.self))
        }
        try await session.disconnect()
        #expect(session.record.ends == [.requested])
        await loop.shutdown()
        await broker.shutdown()
    }

    @Test func `a message is sent after all jobs that the event loop received before the message`() async throws {
        let broker = try await Broker(.memory)
        let loop = try EventLoop()
        let session = TestSession(on: loop)
        try await session.connect(to: broker.endpoint)
        let waiting = Series<Int>()
        loop.execute { [driver = session.driver] in
            for text in ["first", "second"] {
                loop.execute { waiting.append(driver.outgoing.count) }
                let payload = Array(text.utf8)
                _ = driver.outgoing.accept(
                    OutgoingPublish(topic: "t", qos: .one), payload.span.bytes, array: nil, for: .nobody,
                    at: MonotonicInstant(.now))
                driver.runOnLoop()  // The loop handles messages before jobs.
                waiting.append(driver.outgoing.waitingCount)
            }
        }
        try await session.wait("for both") { $0.acknowledged.count == 2 }
        #expect(waiting.values == [1, 2, 2, 2], "neither message goes out before both jobs have run")
        try await session.disconnect()
        await loop.shutdown()
        await broker.shutdown()
    }

    @Test(arguments: peers)
    func `a payload larger than every buffer arrives complete`(peer: Peer, version: ProtocolVersion) async throws {
        let broker = try await Broker(peer)
        let loop = try EventLoop()
        let session = TestSession(version, on: loop)
        try await session.connect(to: broker.endpoint)
        try await session.subscribe("big", qos: .atLeastOnce)
        let payload = (0..<900_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        try await session.publish("big", payload, qos: .atLeastOnce, token: 7)
        try await session.wait("for the payload") { $0.messages.count == 1 && $0.acknowledged[7] != nil }
        #expect(session.record.messages.first?.payload == payload)
        try await session.disconnect()
        await loop.shutdown()
        await broker.shutdown()
    }

    @Test(arguments: peers)
    func `messages published without a connection are delivered after the next connect`(
        peer: Peer, version: ProtocolVersion
    ) async throws {
        let broker = try await Broker(peer)
        let loop = try EventLoop()
        let session = TestSession(version, on: loop)
        try await session.connect(to: broker.endpoint)
        try await session.subscribe("kept", qos: .atLeastOnce)
        try await session.disconnect()
        for number in 0..<10 {
            try await session.publish(
                "kept", [UInt8(number)], qos: .atLeastOnce, token: Token(rawValue: UInt64(number)))
        }
        try await session.connect(to: broker.endpoint)
        try await session.wait("for what waited") { $0.messages.count == 10 && $0.acknowledged.count == 10 }
        #expect(session.record.messages.flatMap(\.payload) == Array(0..<10))
        try await session.disconnect()
        await loop.shutdown()
        await broker.shutdown()
    }

    @Test func `the error of a refused TCP connection contains the address and the reason`() async throws {
        let loop = try EventLoop()
        let session = TestSession(on: loop)
        loop.execute { session.driver.open(.tcp(host: "127.0.0.1", port: 1)) }
        try await session.wait("to be refused") { $0.ends.count == 1 }
        guard case .failed(let error)? = session.record.causes.first else {
            Issue.record("\(session.record.causes)")
            return
        }
        #expect("\(error)".contains("connection refused: 127.0.0.1:1"))
        await loop.shutdown()
    }

    @Test func `a session connects with the older MQTT version if the broker refuses MQTT 5`() async throws {
        var configuration = BrokerConfiguration()
        configuration.versions = [.v311]
        let broker = try LoopbackBroker.start(configuration: configuration)
        let loop = try EventLoop()
        let session = TestSession(.v5, on: loop)
        loop.execute { session.driver.open(broker.endpoint) }
        try await session.wait("to be refused") { $0.ends == [.versionNotSupported(next: .v311)] }
        try await session.connect(to: broker.endpoint)
        try await session.disconnect()
        await loop.shutdown()
        await broker.shutdown()
    }

    @Test func `a message can be acknowledged inside its own callback`() async throws {
        let broker = try LoopbackBroker.start()
        let loop = try EventLoop()
        let session = TestSession(on: loop) {
            $0.acknowledgements = .onCommand
            $0.receiveMaximum = 3
        } onMessage: { driver, message in
            if let handle = message.handle { driver.acknowledge(handle) }
        }
        try await session.connect(to: broker.endpoint)
        try await session.subscribe("#", qos: .exactlyOnce)
        for number in 0..<100 {
            try await session.publish(
                "n", [UInt8(number)], qos: number % 2 == 0 ? .exactlyOnce : .atLeastOnce,
                token: Token(rawValue: UInt64(number)))
        }
        try await session.wait("for all messages") { $0.messages.count == 100 && $0.acknowledged.count == 100 }
        try await session.disconnect()
        await loop.shutdown()
        await broker.shutdown()
    }

    /// Without DISCONNECT the broker would publish the will before the marker message.
    @Test func `disconnect() inside a message callback sends DISCONNECT, so the will is not published`() async throws {
        let broker = try LoopbackBroker.start()
        let loop = try EventLoop()
        let witness = TestSession(id: "witness", on: loop)
        try await witness.connect(to: broker.endpoint)
        try await witness.subscribe("will", qos: .atLeastOnce)
        let session = TestSession(id: "leaving", on: loop) {
            $0.connect.will = .init(topic: "will", payload: [1])
        } onMessage: { driver, _ in
            driver.disconnect()
        }
        try await session.connect(to: broker.endpoint)
        try await session.subscribe("go", qos: .atMostOnce)
        try await witness.publish("go", [], qos: .atLeastOnce, token: 1)
        try await session.wait("to have left") { $0.ends == [.requested] }
        try await witness.publish("will", [2], qos: .atLeastOnce, token: 2)
        try await witness.wait("for the marker") { $0.messages.contains { $0.payload == [2] } }
        #expect(witness.record.messages.map(\.payload) == [[2]])
        try await witness.disconnect()
        await loop.shutdown()
        await broker.shutdown()
    }

    @Test func `no QoS 1 or QoS 2 message is lost when connections drop`() async throws {
        let broker = try LoopbackBroker.start()
        let loop = try EventLoop()
        let receiver = TestSession(id: "receiver", on: loop)
        try await receiver.connect(to: broker.endpoint)
        try await receiver.subscribe("#", qos: .exactlyOnce)
        let sender = TestSession(id: "sender", on: loop)
        let count = 2_000
        for round in 0..<20 {
            try await sender.connect(to: broker.endpoint)
            for offset in 0..<(count / 20) {
                let number = round * (count / 20) + offset
                try await sender.publish(
                    "n", [UInt8(number >> 8), UInt8(number & 0xFF)], qos: number % 2 == 0 ? .exactlyOnce : .atLeastOnce,
                    token: Token(rawValue: UInt64(number)))
            }
            let ends = (sender.record.ends.count, receiver.record.ends.count)
            broker.dropConnections()
            try await sender.wait("to be dropped") { $0.ends.count > ends.0 }
            try await receiver.wait("to be dropped") { $0.ends.count > ends.1 }
            try await receiver.connect(to: broker.endpoint)
        }
        try await sender.connect(to: broker.endpoint)
        try await sender.wait("for all acknowledgements") { $0.acknowledged.count == count }
        try await receiver.wait("for all messages") { record in
            Set(record.messages.map(\.payload)).count == count
        }
        try await sender.disconnect()
        try await receiver.disconnect()
        let exactlyOnce = receiver.record.messages.filter { $0.qos == .exactlyOnce }.map(\.payload)
        #expect(exactlyOnce.count == count / 2)
        #expect(exactlyOnce == exactlyOnce.sorted { $0.lexicographicallyPrecedes($1) })
        await loop.shutdown()
        await broker.shutdown()
    }
}
