import CourierCore
import CourierTesting
import MQTTCodec
import Testing

@testable import CourierMQTT

/// Latest-only messages.
extension OutgoingRulesTests {
    @Test(arguments: OutgoingSetup.all, [QoS.one, .two, .oneWithoutPersistenceAndRetry])
    func `only the newest latest-only message to a topic waits, and older waiting messages are replaced`(
        _ setup: OutgoingSetup, _ qos: QoS
    ) async throws {
        let count = qos == .one ? 500 : 50
        try await setup.connected(OfflinePolicy()) { world, gate in
            let record = PublishRecord(world, setup)
            let shape = PublishRecord.Shape(qos: qos, isLatestOnly: true)
            for _ in 0..<count {
                await record.offer(.task, shape)
                await world.soon { record.isSettled }
            }
            await world.soon { record.ended(.messageReplaced).count >= count - 21 }
            let inFlight = await world.publishes().compactMap(\.number)
            let last = count - 1
            #expect(inFlight.count <= 20)
            #expect(record.open == inFlight + [last])
            #expect(record.ended(.messageReplaced).count == last - inFlight.count)
            await Self.finish(world, record, gate, .task)
            await record.wait()
            #expect(await world.publishes().compactMap(\.number) == inFlight + [last])
            #expect(record.ended(nil) == inFlight + [last])
        }
    }

    @Test(arguments: OutgoingSetup.all)
    func `without a connection, only the newest latest-only message to each topic waits`(_ setup: OutgoingSetup)
        async throws
    {
        try await setup.offline(OfflinePolicy()) { world in
            let record = PublishRecord(world, setup)
            for index in 0..<500 {
                let shape = PublishRecord.Shape(topic: "t\(index % 2)", isLatestOnly: true)
                await record.offer(.task, shape)
                await world.soon { record.isSettled }
            }
            await world.soon { record.ended(.messageReplaced).count >= 498 }
            #expect(record.open == [498, 499])
            await Self.finish(world, record, nil, .task)
            await record.wait()
            #expect(await world.publishes().compactMap(\.number) == [498, 499])
            #expect(record.ended(nil) == [498, 499])
        }
    }

    @Test(arguments: OutgoingSetup.all)
    func `a latest-only message that replaces an older message is sent after all waiting messages`(
        _ setup: OutgoingSetup
    )
        async throws
    {
        try await setup.connected(OfflinePolicy()) { world, gate in
            let record = PublishRecord(world, setup)
            for _ in 0..<20 { await record.offer(.completion) }
            await world.soon { await world.publishes().count == 20 }
            // Message 23 replaces message 20.
            for isLatestOnly in [true, false, false, true] {
                await record.offer(.task, PublishRecord.Shape(topic: "t", isLatestOnly: isLatestOnly))
                await world.soon { record.isSettled }
            }
            await world.soon { record.ended(.messageReplaced) == [20] }
            await Self.finish(world, record, gate, .task)
            await record.wait()
            #expect(await world.publishes().compactMap(\.number) == Array(0..<20) + [21, 22, 23])
        }
    }
}
