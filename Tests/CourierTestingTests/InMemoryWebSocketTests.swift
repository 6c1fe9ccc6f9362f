import CourierTesting
import CourierTransport
import MQTTCodec
import Testing

/// Brokers that are configured for WebSocket, with connections in memory and without a listener.
@Suite(.timeLimit(.minutes(1))) struct InMemoryWebSocketTests {
    private static let webSocket = WebSocketConfiguration()

    /// The reason code of the broker's CONNACK; `nil` if no CONNACK was received.
    private func connAckCode(of endpoint: TransportEndpoint) async throws -> PacketReasonCode? {
        let loop = try EventLoop()
        let client = await ScriptedClient.connect(endpoint, webSocket: Self.webSocket, on: loop)
        let code = await client.packets(1).first?.connAckCode
        await loop.shutdown()
        return code
    }

    @Test func `a scripted broker accepts WebSocket clients over TCP and in memory`() async throws {
        let broker = try ScriptedBroker.start(webSocket: Self.webSocket)
        #expect(try await connAckCode(of: broker.endpoint) == .success)
        #expect(try await connAckCode(of: broker.connectInMemory(bytesPerCall: 7)) == .success)
        await broker.shutdown()
    }

    @Test func `a loopback broker accepts WebSocket clients over TCP and in memory`() async throws {
        // On a busy machine the CONNECT may be sent more than ten seconds after the connection was accepted.
        var configuration = BrokerConfiguration()
        configuration.connectTimeout = .seconds(60)
        let broker = try LoopbackBroker.start(webSocket: Self.webSocket, configuration: configuration)
        #expect(try await connAckCode(of: broker.endpoint) == .success)
        #expect(try await connAckCode(of: broker.connectInMemory(bytesPerCall: 7)) == .success)
        await broker.shutdown()
    }
}
