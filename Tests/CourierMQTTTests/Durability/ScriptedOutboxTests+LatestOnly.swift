import CourierCore
import CourierTesting
import MQTTCodec
import Testing

@testable import CourierMQTT

/// Stored messages of which only the latest to a topic counts.
extension ScriptedOutboxTests {
    private static func latest(_ topic: String) -> PublishRequest {
        PublishRequest(topic: TopicTemplate(exactly: topic), isLatestOnly: true)
    }

    @Test func `[MQTT-4.7.3-4] a message on disk only is not replaced by one to a topic that merely looks the same`()
        async throws
    {
        try await Self.run(Self.refusing) {
            $0.offline = OfflinePolicy(maximumCount: 1)
        } _: { world, store in
            await world.connect()
            try await world.client.enqueue("first", to: "other")
            try await world.client.enqueue("composed", as: Self.latest("caf\u{E9}"))
            try await world.client.enqueue("decomposed", as: Self.latest("cafe\u{301}"))
            await world.run(for: .seconds(1))
            await world.until { await store.memory.summary(of: world.scope).outgoingCount == 0 }
            #expect(await world.publishes().map(\.text) == ["first", "composed", "decomposed"])
        }
    }
}
