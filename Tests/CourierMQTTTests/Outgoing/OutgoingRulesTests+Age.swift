import CourierCore
import CourierTesting
import MQTTCodec
import Testing

@testable import CourierMQTT

/// The time that a message may wait.
extension OutgoingRulesTests {
    /// What limits the time of a message.
    enum TimeLimit: CaseIterable, Sendable { case maximumAge, messageExpiry }

    private static func limits(_ limit: TimeLimit) -> (OfflinePolicy, PublishRecord.Shape) {
        switch limit {
        case .maximumAge: (OfflinePolicy(maximumAge: .seconds(2)), PublishRecord.Shape())
        case .messageExpiry: (OfflinePolicy(), PublishRecord.Shape(expiry: .seconds(2)))
        }
    }

    @Test(arguments: OutgoingSetup.all, TimeLimit.allCases)
    func `waiting messages expire after 2 s, but messages in flight do not expire`(
        _ setup: OutgoingSetup, _ limit: TimeLimit
    ) async throws {
        let (policy, shape) = Self.limits(limit)
        let store = ControlledStore()
        try await setup.connected(policy, store: store) { world, gate in
            let record = PublishRecord(world, setup)
            for _ in 0..<300 { await record.offer(.completion, shape) }
            await world.soon { await world.publishes().count == 20 }
            if setup.hasStore { await world.soon { store.changes.count(where: \.isEnqueue) == 300 } }
            await world.run(for: .milliseconds(1_800))
            #expect(record.open.count == 300)
            await world.run(for: .milliseconds(300))
            #expect(record.ended(.messageExpired) == Array(20..<300))
            await world.run(for: .seconds(10))
            #expect(record.open == Array(0..<20))
            await Self.finish(world, record, gate, .completion)
            #expect(record.ended(nil) == Array(0..<20))
            #expect(await world.publishes().compactMap(\.number) == Array(0..<20))
        }
    }

    @Test(arguments: OutgoingSetup.all, TimeLimit.allCases)
    func `without a connection, all waiting messages expire after 2 s`(_ setup: OutgoingSetup, _ limit: TimeLimit)
        async throws
    {
        let (policy, shape) = Self.limits(limit)
        let refusals = Array(repeating: Self.refusal, count: 4)  // Attempts follow after 1, 3 and 7 s.
        let store = ControlledStore()
        try await setup.run(refusals, policy, store) { world in
            await world.connect()
            try await world.broker.endOfConnection(1)
            let record = PublishRecord(world, setup)
            for _ in 0..<300 { await record.offer(.completion, shape) }
            if setup.hasStore { await world.soon { store.changes.count(where: \.isEnqueue) == 300 } }
            await world.run(for: .milliseconds(1_800))
            #expect(record.open.count == 300)
            await world.run(for: .milliseconds(300))
            await world.soon { record.open.isEmpty }
            #expect(record.ended(.messageExpired) == Array(0..<300))
            await world.run(for: .seconds(20))
            #expect(await world.publishes().isEmpty)
            #expect(!record.hasRepeatedEnds)
        }
    }

    @Test(arguments: OutgoingSetup.all)
    func `after the broker lost the session, messages that wait to be sent again expire after maximumAge`(
        _ setup: OutgoingSetup
    ) async throws {
        // The second connection has a new session. Only one of the 20 messages goes in flight there.
        let next = ConnectionScript.connection([OutgoingSetup.accept(receiveMaximum: 1), .hold(ScriptGate())])
        let gate = ScriptGate()
        let first = ConnectionScript.connection([OutgoingSetup.accept(), .hold(gate), .cut(.reset)])
        let policy = OfflinePolicy(maximumAge: .seconds(4))
        try await setup.run([first, next], policy) { world in
            await world.connect()
            await world.soon { world.client.connectionState == .connected }
            let record = PublishRecord(world, setup)
            for _ in 0..<20 { await record.offer(.completion) }
            await world.soon { await world.publishes().count == 20 }
            gate.release()
            await world.run(for: .milliseconds(1_100))
            await world.soon { await world.publishes(on: 2).count == 1 }
            #expect(record.open.count == 20)
            // While the session exists, no message expires in flight. These messages wait to be sent again in a new
            // session.
            await world.run(for: .seconds(4))
            await world.soon { record.ended(.messageExpired).count == 19 }
            #expect(record.open == [0])
        }
    }

    @Test(arguments: OutgoingSetup.withStore, TimeLimit.allCases)
    func `a QoS 2 message expires and is not sent if its packet id is stored too late`(
        _ setup: OutgoingSetup, _ limit: TimeLimit
    ) async throws {
        let (policy, shape) = Self.limits(limit)
        let store = ControlledStore()
        try await setup.connected(policy, store: store) { world, _ in
            let record = PublishRecord(world, setup)
            store.hold()
            await record.offer(.completion, PublishRecord.Shape(qos: .two, expiry: shape.expiry))
            await world.soon { store.heldCount == 1 }
            store.release(holdingNext: true)
            await world.soon { store.heldCount == 1 }  // The packet id.
            await world.run(for: .milliseconds(2_100))
            #expect(record.open == [0])
            store.release()
            await world.soon { record.ended(.messageExpired) == [0] }
            #expect(await world.publishes().isEmpty)
        }
    }
}
