import CourierTesting
import CourierTransport
import MQTTCodec
import Testing

/// Waiting for packets and connections, and the shutdown of the broker.
extension `Scripted broker` {
    @Test func `shutdown() of the broker ends all waiting calls with ScriptFailure`() async throws {
        let broker = try ScriptedBroker.start()
        let waiting = Task { try await broker.received(.publish(to: "a")) }
        let connection = Task { try await broker.connection(2) }
        await broker.shutdown()
        let failure = await #expect(throws: ScriptFailure.self) { try await waiting.value }
        #expect(failure?.description == "the broker was shut down before PUBLISH (to a) came")
        await #expect(throws: ScriptFailure.self) { try await connection.value }
        await #expect(throws: ScriptFailure.self) { try await broker.endOfConnection(1) }
        #expect(await broker.connections.isEmpty)
    }

    @Test func `a cancelled wait for a packet throws CancellationError`() async throws {
        try await Self.withBroker { broker, _, _ in
            let waiting = Task { try await broker.received(.publish) }
            waiting.cancel()
            await #expect(throws: CancellationError.self) { try await waiting.value }
        }
    }

    @Test func `shutdown() of the broker does not stop the given event loop`() async throws {
        let clock = VirtualClock()
        let loop = try EventLoop(name: "shared", clock: clock)
        let broker = try ScriptedBroker.start(on: loop)
        let client = await ScriptedClient.connect(broker.endpoint, on: loop)
        _ = await client.packets(1)
        await broker.shutdown()
        #expect(await client.end().reason != nil)
        let again = try ScriptedBroker.start(on: loop)
        _ = await ScriptedClient.connect(again.connectInMemory(), on: loop).packets(1)
        await again.shutdown()
        await loop.shutdown()
    }

    @Test func `connections after the last scripted connection run the steps that the parameter afterwards contains`()
        async throws
    {
        try await Self.withBroker([.connection()], afterwards: [.closeWithoutAnswer()]) { broker, loop, endpoint in
            #expect(await ScriptedClient.connect(endpoint(), on: loop).packets(1).count == 1)
            for _ in 0..<3 {
                #expect(await ScriptedClient.connect(endpoint(), on: loop).end().packets.isEmpty)
            }
            #expect(await broker.connections.count == 4)
        }
    }
}
