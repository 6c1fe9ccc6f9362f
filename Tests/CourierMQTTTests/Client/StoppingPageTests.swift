import CourierCore
import CourierMQTT
import CourierTesting
import CourierTransport
import Foundation
import Testing

// The view model of docs/guides/stopping.md, and its test, to which the page links.

private struct StoppingNote: Codable, Sendable { var title: String }

@MainActor private final class StoppingModel {
    private(set) var notes: [StoppingNote] = []
    private let client: any CourierClient
    private var reading: Task<Void, any Error>?

    init(_ client: any CourierClient) { self.client = client }

    /// Returns when the broker has granted the subscription.
    func start() async throws {
        let incoming = try await client.messages(StoppingNote.self, from: "chat/+/notes").subscribed()
        reading = Task { for try await note in incoming { notes.append(note) } }
    }

    /// Returns when ``notes`` contains every note that has arrived.
    func stop() async throws {
        await client.shutdown()
        try await reading?.value
    }
}

@Suite(.timeLimit(.minutes(1))) @MainActor struct StoppingPageTests {
    @Test func `stop() ends the model's loop, and the model contains every note that arrived before stop()`()
        async throws
    {
        let group = try EventLoopGroup(name: "test", clock: VirtualClock())
        let broker = try LoopbackBroker.start(loop: group.loops[0])
        let options = ConnectOptions(host: "127.0.0.1", port: broker.port, transport: .tcp, clientId: "phone-7")
        var config = MQTTClientConfig(options: options)
        config.environment.eventLoops = group
        config.endpoint = { _ in broker.connectInMemory() }
        config.deliveryQueue = DispatchQueue(label: "test")  // This test occupies the main queue.
        let client = CourierClientFactory().makeMQTTClient(config: config)

        let model = StoppingModel(client)
        client.connect()
        try await model.start()
        try await client.publish(StoppingNote(title: "one"), to: "chat/7/notes")
        while model.notes.isEmpty { await Task.yield() }
        try await model.stop()
        #expect(model.notes.map(\.title) == ["one"])
        #expect(client.connectionState == .disconnected)

        client.destroy()
        await broker.shutdown()
        await group.shutdown()
    }
}
