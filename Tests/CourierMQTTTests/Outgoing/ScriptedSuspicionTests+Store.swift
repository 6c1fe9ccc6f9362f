import CourierCore
import CourierTesting
import Foundation
import MQTTCodec
import Testing

@testable import CourierMQTT

/// Strikes and rejected messages in the message store.
extension ScriptedSuspicionTests {
    private static let stored = OutgoingSetup(isListening: true, hasStore: true, hasProperties: false)
    private static let first = StoredMessage.ID(rawValue: 1)

    private static func message(_ id: UInt64, to topic: String, _ qos: QoS = .one) -> StoredMessage {
        StoredMessage(
            id: StoredMessage.ID(rawValue: id), topic: topic, payload: [1, 2, 3], qos: qos, storedAt: Date())
    }

    @Test
    func `each strike of a message is stored, and the early loss of a connection without messages resets the count`()
        async throws
    {
        let store = ControlledStore()
        let early = ConnectionScript.connection([.accept(), .serve(until: .pingReq), .answer, .cut(.orderly)])
        let closing = ConnectionScript.connection(Self.closing())
        try await Self.run(Self.stored, [closing, closing, early], afterwards: Self.closing(), store: store) {
            world in
            await world.connect()
            let large = try Self.publish(world, to: "large")
            await world.run(for: .seconds(120))
            await world.soon { large.value != nil }
            let strikes = store.changes.compactMap { change -> Int? in
                if case .strike(Self.first, let count) = change { count } else { nil }
            }
            #expect(strikes == [1, 0, 1, 2])
            let ends = store.changes.filter { change in
                switch change {
                case .reject(Self.first, _, _), .removeOutgoing(Self.first): true
                default: false
                }
            }
            #expect(ends.count == 1 && ends.first != .removeOutgoing(Self.first))
        }
    }

    /// Either the session of the earlier process still exists, or the broker lost it and the stored message waits
    /// again.
    @Test(arguments: [true, false])
    func `the next process sends a message with two stored strikes after 10 s, and rejects it after the third strike`(
        isSessionPresent: Bool
    )
        async throws
    {
        let store = ControlledStore()
        let accept = ScriptStep.accept(isSessionPresent: isSessionPresent)
        try await Self.run(Self.stored, afterwards: Self.closing(accept), store: store) { world in
            var rows: [StoreChange] = [
                .enqueue(Self.message(1, to: "large")), .enqueue(Self.message(2, to: "small")),
                .strike(Self.first, count: 2),
            ]
            if isSessionPresent { rows.append(.progress(Self.first, .sent(packetID: 9))) }
            try await store.memory.fill(rows, world.scope)
            await world.connect()
            await world.until { await !world.broker.packets(.pingReq).isEmpty }
            await world.run(for: .milliseconds(9_900))
            #expect(await world.publishes().isEmpty)
            await world.run(for: .milliseconds(200))
            #expect(await world.publishes().map(\.topic) == ["large"])
            await world.run(for: .seconds(2))
            await world.soon { await store.memory.summary(of: world.scope).outgoingCount == 0 }
            #expect(
                await store.memory.rejected(in: world.scope, after: nil, limit: 9).map(\.message.id) == [Self.first])
            #expect(await world.publishes().map(\.topic) == ["large", "small"])
            #expect(await world.broker.connections.count == 2)
            #expect(world.errors(of: "messageSendFailure").map { $0.rejectedMessage?.data } == [Data([1, 2, 3])])
        }
    }

    @Test func `the stored strikes of a message are ignored if rejectsHarmfulMessages is false`() async throws {
        let store = ControlledStore()
        try await Self.run(Self.stored, afterwards: [.accept()], store: store) {
            $0.session.rejectsHarmfulMessages = false
        } _: { world in
            try await store.memory.fill(
                [.enqueue(Self.message(1, to: "large")), .strike(Self.first, count: 2)], world.scope)
            await world.connect()
            await world.soon { await world.publishes().map(\.topic) == ["large"] }
            #expect(await world.broker.packets(.pingReq).isEmpty)
        }
    }

    // MARK: Packet ids

    /// The packet ids of `count` QoS 2 messages that are in flight together.
    private static func ids(_ count: Int, _ world: ScriptedWorld, on number: Int) async throws -> [UInt16] {
        for _ in 0..<count { _ = try publish(world, to: "next", .two) }
        await world.soon { await world.publishes(on: number).filter { $0.topic == "next" }.count == count }
        return await world.publishes(on: number).filter { $0.topic == "next" }
            .compactMap { $0.delivery.packetID?.rawValue }.sorted()
    }

    @Test(arguments: [true, false])
    func `the packet id of a rejected QoS 2 message stays reserved until the session ends`(isKept: Bool) async throws {
        let accept = ScriptStep.accept(isSessionPresent: isKept)
        let mute = ConnectionScript.connection([accept, .fault(.drop(.pubRec, count: .max))])
        let closing = ConnectionScript.connection(Self.closing(accept))
        try await Self.run(Self.plain, Array(repeating: closing, count: 4) + [mute], afterwards: [.accept()]) {
            $0.session.acknowledgementTimeout = nil
        } _: { world in
            await world.connect()
            let large = try Self.publish(world, to: "large", .two)
            await world.run(for: .seconds(30))
            #expect(large.value?.failure?.code == .publishRefused)
            #expect(await world.publishes().compactMap { $0.delivery.packetID?.rawValue } == [1, 1, 1, 1])
            #expect(try await Self.ids(3, world, on: 5) == (isKept ? [2, 3, 4] : [1, 2, 3]))
        }
    }

    @Test(arguments: [true, false])
    func `the next process reserves the packet id of a rejected QoS 2 message if the session is present`(
        isSessionPresent: Bool
    )
        async throws
    {
        let store = ControlledStore()
        let steps: [ScriptStep] = [
            .accept(isSessionPresent: isSessionPresent), .fault(.drop(.pubRec, count: .max)),
        ]
        try await Self.run(Self.stored, afterwards: steps, store: store) {
            $0.session.acknowledgementTimeout = nil
        } _: { world in
            try await store.memory.fill(
                [
                    .enqueue(Self.message(1, to: "large", .two)), .progress(Self.first, .sent(packetID: 2)),
                    .reject(Self.first, reason: "", at: Date()),
                ], world.scope)
            await world.connect()
            await world.soon { world.client.connectionState == .connected }
            #expect(try await Self.ids(3, world, on: 1) == (isSessionPresent ? [1, 3, 4] : [1, 2, 3]))
        }
    }
}
