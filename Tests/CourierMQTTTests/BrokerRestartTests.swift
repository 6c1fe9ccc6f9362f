import CourierTransport
import MQTTCodec
import MQTTEngine
import TestSupport
import Testing

@testable import CourierMQTT

/// A real mosquitto is stopped and started while a client publishes.
///
/// The receiver is offline during the restart, and mosquitto queues its messages. Reason: if mosquitto 2.0.11 stops
/// between its PUBREL and our PUBCOMP, it sends PUBLISH again after its start. [MQTT-4.3.3-6] forbids this, and a
/// receiver takes the PUBLISH for a new message. Other tests check exactly-once delivery to a receiver: with the broker
/// of this package, and in the simulation.
@Suite
struct BrokerRestartTests {
    /// The number of messages. Half of them have QoS 1, half have QoS 2.
    static let count = 50_000
    /// The maximum number of messages that are published before the broker has stopped.
    static let countBefore = 40_000

    @Test(arguments: [ProtocolVersion.v311, .v5])
    func `a broker restart during 50000 publishes loses no message and duplicates no QoS 2 message`(
        version: ProtocolVersion
    ) async throws {
        // mosquitto 2.0.11 sometimes crashes when it stops, and then loses its sessions.
        for _ in 0..<5 {
            if try await restart(version) { return }
        }
        Issue.record("mosquitto never stopped in order")
    }

    /// Returns `false` if the broker has not stored its sessions, so that the test must be repeated.
    private func restart(_ version: ProtocolVersion) async throws -> Bool {
        let broker = try await RealBroker(persists: true, settings: "max_inflight_messages 0")
        let loop = try EventLoop()
        let receiver = TestSession(version, id: "receiver", on: loop)
        try await receiver.connect(to: broker.endpoint)
        try await receiver.subscribe("n/#", qos: .exactlyOnce)
        try await receiver.disconnect()
        let sender = TestSession(version, id: "sender", on: loop)
        try await sender.connect(to: broker.endpoint)

        let (outcomes, hasStopped) = AsyncStream.makeStream(of: Bool.self)
        async let publishing: Void = {
            var outcome = outcomes.makeAsyncIterator()
            for number in 0..<Self.count {
                if number == Self.countBefore, await outcome.next() != true { return }
                let bytes = [UInt8(number >> 16), UInt8(number >> 8 & 0xFF), UInt8(number & 0xFF)]
                try await sender.publish(
                    "n/\(number % 2)", bytes, qos: number % 2 == 0 ? .exactlyOnce : .atLeastOnce,
                    token: Token(rawValue: UInt64(number)))
            }
        }()
        try await sender.wait("for the first thousands") { $0.acknowledged.count > 10_000 }
        let isStored = await broker.stop()
        hasStopped.yield(isStored)
        try await sender.wait("for the connection to end") { !$0.isConnected }
        guard isStored else {
            try await publishing
            await loop.shutdown()
            return false
        }
        try await broker.start()
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
        return true
    }
}
