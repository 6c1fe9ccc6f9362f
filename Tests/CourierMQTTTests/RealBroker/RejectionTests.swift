import CourierCore
import TestSupport
import Testing

@testable import CourierMQTT

/// Messages that the app rejects or does not finish, and the messages that mosquitto sends again.
@Suite(.timeLimit(.minutes(5))) struct RejectionTests {
    private struct Refusal: Error {}

    private static func process(
        _ messages: MessageSequence<Message>, _ body: (Message) throws -> Void
    ) async throws {
        for try await message in messages { try body(message) }
    }

    @Test(
        arguments: [ProtocolVersionPolicy.version5, .version311],
        [QoS.one, .two])
    func `mosquitto sends an unacknowledged message again, but not a rejected message`(
        _ version: ProtocolVersionPolicy, _ qos: QoS
    ) async throws {
        let broker = try await RealBroker()
        let sender = try TestClient(.local(broker.port, id: "sender"))
        try await sender.connect()
        let options = ConnectOptions.local(broker.port, id: "worker")
        // The first client simulates a process that ends. It does not acknowledge its second message.
        let first = try TestClient(options) { $0.protocolVersion = version }
        try await first.connect()
        _ = try await first.client.subscribe(SubscriptionRequest(topic: TopicTemplate(exactly: "jobs"), qos: qos))
        let jobs = try await first.client.messages(
            Message.self, from: "jobs", qos: qos, acknowledge: .afterProcessing
        ).subscribed()
        for text in ["bad", "left"] { try await sender.client.publish(text, to: "jobs", qos: qos) }
        await #expect(throws: Refusal.self) {
            try await Self.process(jobs) { message in
                if message.payloadString == "left" { throw Refusal() }
                message.reject(.payloadFormatInvalid)
            }
        }
        try await first.end()

        let second = try TestClient(options) { $0.protocolVersion = version }
        // The reader is open before the connection begins, when mosquitto sends the message again.
        var again = second.client.messages(
            Message.self, from: "jobs", qos: qos, acknowledge: .afterProcessing
        ).makeAsyncIterator()
        try await second.connect()
        try await sender.client.publish("last", to: "jobs", qos: qos)
        var texts: [String] = []
        while texts.last != "last", let message = try await again.next() {
            texts.append(message.payloadString ?? "")
        }
        #expect(texts == ["left", "last"])
        try await second.end()
        try await sender.end()
        await broker.stop()
    }
}
