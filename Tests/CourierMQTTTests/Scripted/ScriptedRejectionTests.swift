import CourierCore
import CourierTesting
import MQTTCodec
import TestSupport
import Testing

@testable import CourierMQTT

/// Received messages that the app rejects.
@Suite(.timeLimit(.minutes(5))) struct ScriptedRejectionTests {
    typealias Reading = ScriptedReadingTests

    /// The codes of PUBACK and PUBREC, in the order in which the client sent them.
    private static func codes(_ world: ScriptedWorld) async -> [PacketReasonCode] {
        await world.broker.packets(.any).compactMap {
            switch $0.packet {
            case .pubAck(let answer), .pubRec(let answer): answer.reasonCode
            default: nil
            }
        }
    }

    @Test(arguments: NegativeAcknowledgement.allCases, [QoS.one, .two])
    func `reject() acknowledges the message with the given reason code`(_ reason: NegativeAcknowledgement, _ qos: QoS)
        async throws
    {
        // The broker may use the packet id of a rejected message for a new message at once.
        let script = Reading.broker(
            Reading.message(1, "a", qos: qos), .serve(until: .publish(to: "next")),
            Reading.message(1, "b", qos: qos))
        try await ScriptedWorld.run([script]) { world in
            var messages = Reading.reader(world)
            await world.connect()
            try #require(try await messages.next()).reject(reason)
            await world.settle()
            #expect(await Self.codes(world).map(\.rawValue) == [reason.rawValue])
            try world.client.publishMessage("", topic: "next", qos: .zero)
            let second = try #require(try await messages.next())
            #expect(second.payloadString == "b")
            second.acknowledge()
            await world.settle()
            #expect(await Self.codes(world).last == .success)
        }
    }

    @Test(arguments: [QoS.one, .two])
    func `with a store, reject() sends the reason code and removes the stored packet id`(_ qos: QoS) async throws {
        let script = Reading.broker(Reading.message(1, "a", qos: qos))
        let store = ControlledStore()
        try await ScriptedWorld.run([script]) {
            $0.messageStore = store
        } _: { world in
            var messages = Reading.reader(world)
            await world.connect()
            try #require(try await messages.next()).reject(.quotaExceeded)
            await world.until { await Self.codes(world) == [.quotaExceeded] }
            await world.settle()
            let ids = await store.memory.incomingPacketIDs(in: world.scope)
            #expect(ids.isEmpty)
        }
    }

    @Test(arguments: [QoS.one, .two])
    func `in MQTT 3.1.1, reject() acknowledges the message without a reason code`(_ qos: QoS) async throws {
        let script = Reading.broker(Reading.message(1, "a", qos: qos))
        try await ScriptedWorld.run([script]) {
            $0.protocolVersion = .version311
        } _: { world in
            var messages = Reading.reader(world)
            await world.connect()
            try #require(try await messages.next()).reject(.notAuthorized)
            await world.settle()
            #expect(await Reading.acknowledged(world) == [1])
            #expect(await Self.codes(world) == [.success])
        }
    }

    @Test func `reject() has no effect on a message that is already acknowledged`()
        async throws
    {
        let script = Reading.broker(Reading.message(1, "a"), Reading.message(2, "b"))
        try await ScriptedWorld.run([script]) { world in
            var messages = Reading.reader(world)
            await world.connect()
            let first = try #require(try await messages.next())
            first.acknowledge()
            first.reject()
            let second = try #require(try await messages.next())
            second.reject()
            second.acknowledge()
            await world.settle()
            #expect(await Self.codes(world) == [.success, .implementationSpecificError])
        }
        try await ScriptedWorld.run([script]) { world in
            var messages = Reading.reader(world, .onReceipt)
            await world.connect()
            try #require(try await messages.next()).reject()
            await world.settle()
            #expect(await Self.codes(world) == [.success, .success])
        }
    }

    @Test func `with several readers, the first reason code of reject() is sent after the last reader finishes`()
        async throws
    {
        let script = Reading.broker(Reading.message(1, "a"))
        try await ScriptedWorld.run([script]) { world in
            var (first, second, third) = (Reading.reader(world), Reading.reader(world), Reading.reader(world))
            await world.connect()
            try #require(try await first.next()).reject(.payloadFormatInvalid)
            try #require(try await second.next()).reject(.notAuthorized)
            await world.settle()
            #expect(await Self.codes(world).isEmpty)
            try #require(try await third.next()).acknowledge()
            await world.settle()
            #expect(await Self.codes(world) == [.payloadFormatInvalid])
        }
    }

    @Test func `a rejection is sent only after earlier messages are acknowledged`() async throws {
        let script = Reading.broker(Reading.message(1, "a"), Reading.message(2, "b"))
        try await ScriptedWorld.run([script]) { world in
            var all = world.client.messages(Message.self, from: "+", acknowledge: .afterProcessing).makeAsyncIterator()
            var slow = Reading.reader(world)
            await world.connect()
            let (one, two) = (try #require(try await slow.next()), try #require(try await all.next()))
            two.acknowledge()
            try #require(try await all.next()).reject(.quotaExceeded)
            await world.settle()
            #expect(await Self.codes(world).isEmpty)
            one.acknowledge()
            try #require(try await slow.next()).acknowledge()
            await world.settle()
            #expect(await Self.codes(world) == [.success, .quotaExceeded])
        }
    }
}
