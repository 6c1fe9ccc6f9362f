import CourierCore
import TestSupport
import Testing

@testable import CourierMQTT

/// The will that mosquitto publishes, or does not publish, after DISCONNECT with a reason code.
@Suite(.timeLimit(.minutes(5))) struct DisconnectReasonTests {
    @Test(
        arguments: [ProtocolVersionPolicy.version5, .version311],
        [ReasonCode.normalDisconnection, .disconnectWithWillMessage, .unspecifiedError])
    func `mosquitto publishes the will only if the reason code of disconnect() requests the will`(
        _ version: ProtocolVersionPolicy, _ reason: ReasonCode
    ) async throws {
        let broker = try await RealBroker()
        let observer = try TestClient(.local(broker.port, id: "observer"))
        try await observer.connect()
        let messages = try await observer.client.messages(String.self, from: "news", qos: .one).subscribed()
        let test = try TestClient(.local(broker.port, id: "leaver")) {
            $0.protocolVersion = version
            $0.will = WillMessage(topic: "news", text: "gone", qos: .one)
        }
        try await test.connect()
        try await test.client.disconnectAndWait(DisconnectOptions(reasonCode: reason))
        // If mosquitto publishes a will, it does so before it handles the next message.
        try await observer.client.publish("next", to: "news", qos: .one)
        var texts: [String] = []
        for try await text in messages {
            texts.append(text)
            if text == "next" || texts.count == 2 { break }
        }
        // mosquitto 2.0 publishes the will for 0x04 only. MQTT 5 requires it for every code except 0x00
        // [MQTT-3.14.4-3].
        let isPublished = reason == .disconnectWithWillMessage || (version == .version311 && reason.isError)
        #expect(texts.contains("gone") == isPublished)
        try await test.end()
        try await observer.end()
        await broker.stop()
    }
}
