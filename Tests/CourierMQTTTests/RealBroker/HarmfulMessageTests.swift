import CourierCore
import Foundation
import TestSupport
import Testing

@testable import CourierMQTT

/// A message that makes a real mosquitto end each connection: its packet is larger than the broker's limit. In MQTT
/// 3.1.1 the client does not know the limit. `ScriptedSuspicionTests` has such tests in virtual time.
@Suite(.timeLimit(.minutes(2))) struct HarmfulMessageTests {
    @Test func `a message that is too large for mosquitto is rejected, and a small message is delivered`() async throws
    {
        let broker = try await RealBroker(settings: "max_packet_size 2000")
        let store = MemoryMessageStore()
        let options = ConnectOptions.local(broker.port, id: "harmful")
        let test = try TestClient(options) {
            $0.protocolVersion = .version311
            ($0.autoReconnectInterval, $0.maxAutoReconnectInterval) = (1, 1)
            $0.messageStore = store
        }
        try await test.connect()
        let payload = Data(repeating: 7, count: 3_000)
        try await test.client.enqueue(payload, to: "large")
        let small = try await test.client.publish("small", to: "small")
        #expect(small.reasonCode == .success)
        try await test.wait(for: "messageRejected")
        let rejected = test.events.compactMap { event -> Message? in
            if case .messageRejected(let message, _) = event { message } else { nil }
        }
        #expect(rejected.map(\.topic) == ["large"] && rejected.map(\.data) == [payload])
        // The first lost connection starts the suspicion, and three more connections end after the message was sent.
        #expect(test.eventNames.count { $0 == "connectionLost" } == 4)
        let scope = StoreScope(options)
        try await test.end()
        let kept = await store.rejected(in: scope, after: nil, limit: 10)
        #expect(kept.map(\.message.topic) == ["large"])
        #expect(await store.summary(of: scope).outgoingCount == 0)
        _ = await broker.stop()
    }
}
