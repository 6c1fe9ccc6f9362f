import CourierCore
import CourierTesting
import Testing

@testable import CourierMQTT

/// When a will is published, and which subscribers receive it.
@Suite(.timeLimit(.minutes(5))) struct WillMessageTests {
    private static let topic = "presence/7"

    /// A client of the broker with a will, which closes its connection as `phases` says.
    private static func client(
        _ broker: LoopbackBroker, willOf qos: QoS, _ phases: AppPhaseController = AppPhaseController()
    ) throws -> TestClient {
        try TestClient(.local(broker.port, id: "ada")) {
            $0.will = WillMessage(topic: Self.topic, text: "offline", qos: qos, isRetained: true)
            $0.environment.lifecycle = phases
        }
    }

    @Test(arguments: [QoS.zero, .one])
    func `an offline subscriber later receives a will of QoS 1, but no will of QoS 0`(_ qos: QoS) async throws {
        let broker = try LoopbackBroker.start()
        let ben = try TestClient(.local(broker.port, id: "ben"))
        let ada = try Self.client(broker, willOf: qos)
        var words = ben.client.messages(Message.self, from: Self.topic).makeAsyncIterator()
        try await ben.connect()
        try await ben.client.subscribe(to: Self.topic)
        await ben.client.disconnectAndWait()
        try await ada.connect()
        broker.dropConnections()
        try await ada.wait(for: "connectionSuccess", count: 2)  // The broker has seen the end of the first one.

        try await ben.connect()
        try await ben.client.publish("back", to: Self.topic)
        if qos == .one {
            let word = try #require(try await words.next())
            #expect(word.payloadString == "offline")
            #expect(word.qos == .one)
        }
        // The session goes on, so that what was retained meanwhile does not come.
        #expect(try await words.next()?.payloadString == "back")
        try await ada.end()
        try await ben.end()
        await broker.shutdown()
    }

    @Test func `neither print nor dump shows the payload of a will`() {
        let will = WillMessage(topic: "a/b", text: "zebra", qos: .one, isRetained: true)
        var text = "\(will)" + String(reflecting: will)
        dump(will, to: &text)
        #expect(text.contains("a/b") && text.contains("5 bytes") && !text.contains("zebra"))
        for byte in "zebra".utf8 { #expect(!text.contains("\(byte)")) }
    }

    @Test func `no will is published after disconnect() or when the app enters the background`() async throws {
        let broker = try LoopbackBroker.start()
        let phases = AppPhaseController()
        let ben = try TestClient(.local(broker.port, id: "ben"))
        let ada = try Self.client(broker, willOf: .one, phases)
        var words = ben.client.messages(Message.self, from: Self.topic).makeAsyncIterator()
        try await ben.connect()
        try await ben.client.subscribe(to: Self.topic)
        try await ada.connect()
        await ada.client.disconnectAndWait()
        try await ada.connect()
        phases.enterBackground()
        try await ada.wait(for: "connectionDisconnect", count: 2)
        try await ben.client.publish("all", to: Self.topic)
        #expect(try await words.next()?.payloadString == "all")
        try await ada.end()
        try await ben.end()
        await broker.shutdown()
    }
}
