import CourierTransport
import MQTTCodec
import MQTTEngine
import TestSupport
import Testing

@testable import CourierMQTT

/// A real mosquitto that is stopped and started in the middle of a load.
///
/// The receiver is away meanwhile and finds everything queued: mosquitto 2.0.11, stopped between its PUBREL and our
/// PUBCOMP, starts again with PUBLISH, which [MQTT-4.3.3-6] forbids and no receiver can tell from a new message. The
/// receiving side's exactly-once is shown against the broker of this package, and by the simulation.
@Suite
struct BrokerRestartTests {
    /// Half of them QoS 1, half QoS 2.
    static let count = 50_000

    @Test(arguments: [ProtocolVersion.v311, .v5])
    func `a restart in the middle of 50000 publishes loses none and doubles no QoS 2 message`(
        version: ProtocolVersion
    ) async throws {
        let broker = try await RealBroker(persists: true, settings: "max_inflight_messages 0")
        let loop = try EventLoop()
        let receiver = TestSession(version, id: "receiver", on: loop)
        try await receiver.connect(to: broker.endpoint)
        try await receiver.subscribe("n/#", qos: .exactlyOnce)
        try await receiver.disconnect()
        let sender = TestSession(version, id: "sender", on: loop) { $0.maximumQueued = Self.count }
        try await sender.connect(to: broker.endpoint)

        async let publishing: Void = {
            for number in 0..<Self.count {
                let bytes = [UInt8(number >> 16), UInt8(number >> 8 & 0xFF), UInt8(number & 0xFF)]
                try await sender.publish(
                    "n/\(number % 2)", bytes, qos: number % 2 == 0 ? .exactlyOnce : .atLeastOnce,
                    token: Token(rawValue: UInt64(number)))
            }
        }()
        try await sender.wait("for the first thousands") { $0.acknowledged.count > 10_000 }
        try await broker.restart()
        try await sender.wait("for the connection to end") { !$0.isConnected }
        #expect(sender.record.acknowledged.count < Self.count)
        try await sender.connect(to: broker.endpoint)
        try await publishing
        try await sender.wait("for all acknowledgements") { $0.acknowledged.count == Self.count }
        try await sender.disconnect()
        try await receiver.connect(to: broker.endpoint)
        try await receiver.wait("for all messages") { record in
            record.messages.count >= Self.count && Set(record.messages.map(\.payload)).count == Self.count
        }
        try await receiver.disconnect()

        let messages = receiver.record.messages
        let exactlyOnce = messages.filter { $0.topic == "n/0" }.map(\.payload)
        #expect(exactlyOnce.count == Self.count / 2)
        #expect(exactlyOnce == exactlyOnce.sorted { $0.lexicographicallyPrecedes($1) })
        var seen: Set<[UInt8]> = []
        let firstArrivals = messages.filter { $0.topic == "n/1" }.map(\.payload).filter { seen.insert($0).inserted }
        #expect(firstArrivals.count == Self.count / 2)
        #expect(firstArrivals == firstArrivals.sorted { $0.lexicographicallyPrecedes($1) })
        await loop.shutdown()
        await broker.stop()
    }
}
