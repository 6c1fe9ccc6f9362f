import CourierCore
import Foundation
import TestSupport
import Testing

@testable import CourierMQTT

/// A message at which a real mosquitto ends each connection: a packet larger than the broker's limit, which MQTT 3.1.1 does
/// not tell the client. `ScriptedSuspicionTests` has the same in virtual time.
@Suite(.timeLimit(.minutes(2))) struct HarmfulMessageTests {
    @Test func `a message that is too large for mosquitto ends with an error, and the others arrive`() async throws {
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
        // One connection starts the suspicion, and three end with the message.
        #expect(test.eventNames.count { $0 == "connectionLost" } == 4)
        let scope = StoreScope(options)
        try await test.end()
        let kept = await store.rejected(in: scope, after: nil, limit: 10)
        #expect(kept.map(\.message.topic) == ["large"])
        #expect(await store.summary(of: scope).outgoingCount == 0)
        _ = await broker.stop()
    }
}
