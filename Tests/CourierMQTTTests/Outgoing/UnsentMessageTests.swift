import CourierCore
import CourierTesting
import MQTTCodec
import TestSupport
import Testing

@testable import CourierMQTT

/// QoS 0 messages that the broker does not accept according to its CONNACK. No caller waits for their results, so the
/// log reports them.
@Suite(.timeLimit(.minutes(1))) struct UnsentMessageTests {
    private static func run(
        _ properties: PacketProperties, isListenedTo: Bool = true,
        _ body: (ScriptedWorld, WarningLog) async throws -> Void
    ) async throws {
        let log = WarningLog()
        try await ScriptedWorld.run([.connection([.accept(properties: properties)])]) {
            $0.logHandler = log
        } _: { world in
            if !isListenedTo { world.test.stopListening() }
            await world.connect()
            try await body(world, log)
        }
    }

    @Test(arguments: [true, false])
    func `a retained QoS 0 message is dropped with a warning if CONNACK forbids retained messages`(_ isListenedTo: Bool)
        async throws
    {
        try await Self.run([.retainAvailable(false)], isListenedTo: isListenedTo) { world, log in
            try world.client.publish(bytes: [1], to: "a", qos: .zero, retain: true)
            try world.client.publish(text: "plain", to: "b", qos: .zero)
            await world.until { await world.publishes().count == 1 }
            #expect(await world.publishes().map(\.text) == ["plain"])
            #expect(
                log.warnings == [
                    "Dropped: A message of QoS 0 was refused by the broker: Retain not supported (0x9A). "
                        + "Do not retain messages with this broker."
                ])
        }
    }

    @Test func `a QoS 0 message above the broker's maximum packet size is dropped with a warning`() async throws {
        try await Self.run([.maximumPacketSize(100)]) { world, log in
            try world.client.publish(bytes: Array(repeating: 1, count: 200), to: "a", qos: .zero)
            try world.client.publish(text: "small", to: "b", qos: .zero)
            await world.until { await world.publishes().count == 1 }
            #expect(await world.publishes().map(\.text) == ["small"])
            #expect(log.warnings.count == 1)
            #expect(log.warnings.first?.hasPrefix("Dropped: A message of QoS 0 cannot be sent: ") == true)
            #expect(log.warnings.first?.hasSuffix("Make the packet smaller, or raise the broker's limit.") == true)
        }
    }

    @Test func `the warning about dropped QoS 0 messages is logged at most once a minute`() async throws {
        try await Self.run([.retainAvailable(false)]) { world, log in
            func publishForbidden() async throws {
                try world.client.publish(bytes: [1], to: "a", qos: .zero, retain: true)
                await world.settle()
            }
            try await publishForbidden()
            try await publishForbidden()
            #expect(log.warnings.count == 1)
            await world.run(for: .seconds(60))
            try await publishForbidden()
            #expect(log.warnings.count == 2)
        }
    }
}
