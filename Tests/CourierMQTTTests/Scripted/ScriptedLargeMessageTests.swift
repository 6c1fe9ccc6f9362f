import CourierCore
import CourierTesting
import Foundation
import MQTTCodec
import Synchronization
import Testing

@testable import CourierMQTT

/// Messages that are larger than `limits.maximumPacketSize`, before MQTT 5. `SkippingTests` has such tests for the
/// engine, and `LargeMessageTests` for a real broker.
@Suite(.timeLimit(.minutes(5))) struct ScriptedLargeMessageTests {
    private static let limit = 64 << 10
    private static let secret = "hidden"
    private static let payload = Array(String(repeating: secret, count: 30_000).utf8)
    /// The size of the fixed header, the length of the topic and the topic.
    private static let headSize = 4 + 2 + "large".utf8.count

    private static func publish(_ delivery: Delivery) -> Packet {
        .publish(Publish(topic: "large", payload: payload, delivery: delivery))
    }

    private static let small = ScriptStep.send(
        .publish(Publish(topic: "t", payload: Array("small".utf8), delivery: .atLeastOnce(9, isDuplicate: false))))

    /// Sends a large message and the steps of its exchange.
    private static func exchange(_ qos: QoS) -> [ScriptStep] {
        switch qos.wireLevel {
        case 0: [.send(publish(.atMostOnce))]
        case 1: [.send(publish(.atLeastOnce(5, isDuplicate: false))), .expect(.pubAck)]
        default:
            [
                .send(publish(.exactlyOnce(5, isDuplicate: false))), .expect(.pubRec),
                .send(.pubRel(Acknowledgement(packetID: 5))), .expect(.pubComp),
            ]
        }
    }

    private static func run(
        _ steps: [ScriptStep], isListening: Bool = true, _ change: (inout MQTTClientConfig) -> Void = { _ in },
        _ body: (ScriptedWorld) async throws -> Void
    ) async throws {
        try await ScriptedWorld.run([.connection([.accept(), .serve(until: .publish(to: "go"))] + steps)]) {
            $0.protocolVersion = .version311
            $0.limits.maximumPacketSize = limit
            change(&$0)
        } _: { world in
            if !isListening { world.test.stopListening() }
            await world.connect()
            await world.until { world.client.connectionState == .connected }
            try await body(world)
        }
    }

    private static func failures(_ world: ScriptedWorld) -> [(topic: String, error: CourierError?, size: Int)] {
        world.test.events.compactMap { event in
            guard case .messageReceiveFailure(let topic, let error, let size) = event else { return nil }
            return (topic, error as? CourierError, size)
        }
    }

    @Test(arguments: [QoS.zero, .one, .two], [false, true])
    func `a large message is acknowledged and reported, and the next message is received`(
        _ qos: QoS, _ hasStore: Bool
    ) async throws {
        try await Self.run(Self.exchange(qos) + [Self.small]) {
            if hasStore { $0.messageStore = ControlledStore() }
        } _: { world in
            var messages = world.client.messages(String.self, from: "t").makeAsyncIterator()
            await world.settle()
            try world.publish("", to: "go", qos: .zero)
            #expect(try await messages.next() == "small")
            await world.until { !Self.failures(world).isEmpty }
            let failures = Self.failures(world)
            let failure = try #require(failures.first)
            #expect(failures.count == 1 && failure.topic == "large" && failure.size == Self.payload.count)
            let error = try #require(failure.error)
            let packetSize = Self.headSize + (qos == .zero ? 0 : 2) + Self.payload.count
            #expect(error.code == .malformedPacket)
            for part in ["large".quoted(), "\(packetSize) bytes", "\(Self.limit)", "limits.maximumPacketSize"] {
                #expect(error.message.contains(part), "\(error)")
            }
            #expect(!"\(error)".contains(Self.secret))
            await world.settle()
            let answers = await world.broker.packets().map(\.packet.type).filter {
                [.pubAck, .pubRec, .pubComp].contains($0)
            }
            #expect(answers == [[], [.pubAck], [.pubRec, .pubComp]][Int(qos.wireLevel)] + [.pubAck])
            #expect(await world.broker.connections.count == 1)
        }
    }

    @Test func `a large message that arrives slowly does not end the connection`() async throws {
        var bytes = PacketBuffer()
        try PacketEncoder(version: .v311, sender: .server).encode(Self.publish(.atMostOnce), into: &bytes)
        let packet = bytes.withBytes { $0.withUnsafeBytes { Array($0) } }
        let pieceSize = packet.count / 20
        let starts = Array(stride(from: 0, to: packet.count, by: pieceSize))
        let pieces = starts.flatMap { start -> [ScriptStep] in
            [.sendBytes(Array(packet[start..<min(start + pieceSize, packet.count)])), .pause(.seconds(9))]
        }
        // The client sends PINGREQ 8 s after each piece. A broker cannot answer in the middle of a packet, so the script
        // answers only the last PINGREQ.
        try await Self.run([.fault(.drop(.pingResp, count: starts.count - 1))] + pieces + [Self.small]) {
            $0.idleActivityTimeoutPolicy = IdleActivityTimeoutPolicy(
                isEnabled: true, timerInterval: 1, inactivityTimeout: 16, readTimeout: 16)
        } _: { world in
            var messages = world.client.messages(String.self, from: "t").makeAsyncIterator()
            await world.settle()
            try world.publish("", to: "go", qos: .zero)
            await world.run(for: .seconds(9 * starts.count))
            #expect(try await messages.next() == "small")
            await world.until { !Self.failures(world).isEmpty }
            #expect(Self.failures(world).count == 1)
            #expect(world.events.contains("ping") && !world.events.contains("connectionLost"))
        }
    }

    @Test func `without event listeners, large messages are logged once a minute, without their payload`() async throws
    {
        let log = WarningLog()
        let large = ScriptStep.send(Self.publish(.atMostOnce))
        try await Self.run([large, large, .pause(.seconds(61)), large], isListening: false) {
            $0.logHandler = log
        } _: { world in
            try world.client.publishMessage("", topic: "go", qos: .zero)
            await world.until { !log.warnings.isEmpty }
            await world.settle()
            #expect(log.warnings.count == 1)
            #expect(log.warnings.first?.contains("A message on \("large".quoted()) was dropped") == true)
            await world.run(for: .seconds(62))
            #expect(log.warnings.count == 2)
            #expect(!log.warnings.contains { $0.contains(Self.secret) })
        }
    }

    @Test func `a packet observer receives whole packets only, and no part of a large message`() async throws {
        final class Recorder: PacketObserver {
            private let bytes = Mutex<[UInt8]>([])
            var all: [UInt8] { bytes.withLock { $0 } }
            func observed(_ batch: PacketBatch) {
                if batch.direction == .incoming { bytes.withLock { $0 += batch.bytes } }
            }
        }
        let recorder = Recorder()
        try await Self.run([Self.small] + Self.exchange(.one) + [Self.small]) {
            $0.packetObserver = recorder
        } _: { world in
            var messages = world.client.messages(String.self, from: "t").makeAsyncIterator()
            await world.settle()
            try world.publish("", to: "go", qos: .zero)
            for _ in 0..<2 { #expect(try await messages.next() == "small") }
            await world.settle()
            let decoder = PacketDecoder(version: .v311, sender: .server)
            let bytes = recorder.all
            var types: [PacketType] = []
            var offset = 0
            while case .frame(let frame) = try decoder.nextFrame(in: bytes.span.bytes, at: offset) {
                types.append(frame.type)
                offset = frame.end
            }
            #expect(offset == bytes.count)
            #expect(types == [.connAck, .subAck, .publish, .publish])
        }
    }

    @Test func `in MQTT 5, a large message ends the connection with reason code 0x95`() async throws {
        try await Self.run([.send(Self.publish(.atLeastOnce(5, isDuplicate: false)))]) {
            $0.protocolVersion = .version5
        } _: { world in
            try world.publish("", to: "go", qos: .zero)
            await world.until { world.events.contains("connectionLost") }
            #expect(world.errors(of: "connectionLost").map(\.code) == [.malformedPacket])
            #expect(await world.broker.packets(on: 1).last?.packet.disconnect?.reasonCode == .packetTooLarge)
            #expect(Self.failures(world).isEmpty)
            await world.run(for: .seconds(2))
        }
    }
}
