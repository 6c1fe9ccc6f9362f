import CourierCore
import CourierTesting
import MQTTCodec
import Testing

@testable import CourierMQTT

/// The end of a session.
extension OutgoingRulesTests {
    @Test(arguments: OutgoingSetup.all, PublishForm.allCases)
    func `destroy() reports one error for each message, and the next session sends none of these messages`(
        _ setup: OutgoingSetup, _ form: PublishForm
    ) async throws {
        let store = ControlledStore()
        try await setup.connected(OfflinePolicy(), store: store) { world, _ in
            let record = PublishRecord(world, setup)
            for index in 0..<100 {
                await record.offer(form, PublishRecord.Shape(qos: index % 3 == 2 ? .two : .one))
            }
            await world.soon { record.isSettled }
            await world.soon { await world.publishes().count == 20 }
            world.client.destroy()
            await world.run(for: .seconds(10))
            if form.isAnswered { await world.soon { record.open.isEmpty } }
            await record.wait()
            if form.isAnswered { #expect(record.ended(.clientDestroyed) == Array(0..<100)) }
            await world.soon { await store.memory.summary(of: world.scope).outgoingCount == 0 }
            await world.connect()
            await world.soon { world.client.connectionState == .connected }
            let next = try world.publish("next")
            await world.run(for: .seconds(10))
            await world.soon { next.value != nil }
            #expect(next.value?.success != nil)
            #expect(await world.publishes(on: 2).map(\.text) == ["next"])
            #expect(!record.hasRepeatedEnds)
        }
    }

    @Test(arguments: OutgoingSetup.all)
    func `destroy() without a connection reports one error for each message`(_ setup: OutgoingSetup) async throws {
        let store = ControlledStore()
        try await setup.offline(OfflinePolicy(queuesQoS0: true), store: store) { world in
            let record = PublishRecord(world, setup)
            for index in 0..<100 {
                await record.offer(.completion, PublishRecord.Shape(qos: [.one, .two, .zero][index % 3]))
            }
            world.client.destroy()
            await world.soon { record.open.isEmpty }
            // QoS 0 ended when the client accepted it.
            #expect(record.ended(.clientDestroyed) == (0..<100).filter { $0 % 3 != 2 })
            await world.connect()
            await world.soon { world.client.connectionState == .connected }
            let next = try world.publish("next")
            await world.run(for: .seconds(1))
            await world.soon { next.value != nil }
            #expect(await world.publishes().map(\.text) == ["next"])
            #expect(!record.hasRepeatedEnds)
        }
    }
}
