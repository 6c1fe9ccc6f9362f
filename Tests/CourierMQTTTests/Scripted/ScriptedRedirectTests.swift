import CourierCore
import CourierTesting
import CourierTransport
import Foundation
import MQTTCodec
import TestSupport
import Testing

@testable import CourierMQTT

/// Server references on real sockets. Another address of the loopback interface, such as 127.0.0.2, is another host.
@Suite(.timeLimit(.minutes(5))) struct ScriptedRedirectTests {
    /// Returns different credentials for the home broker and for another host.
    private final class HostProvider: IConnectionServiceProvider, Sendable {
        let clientId = "scripted"
        let port: UInt16
        let asked = Series<String>()

        init(port: UInt16) { self.port = port }

        private func options(_ user: String) -> ConnectOptions {
            ConnectOptions(
                host: "127.0.0.1", port: port, keepAlive: 0, clientId: "scripted", username: user, password: user)
        }

        func getConnectOptions(completion: @escaping @Sendable (Result<ConnectOptions, AuthError>) -> Void) {
            asked.append("home")
            completion(.success(options("home")))
        }

        func getConnectOptions(
            for server: BrokerEndpoint,
            completion: @escaping @Sendable (Result<ConnectOptions, AuthError>) -> Void
        ) {
            asked.append("\(server.host)")
            completion(.success(options("node")))
        }
    }

    private struct Outcome {
        /// The CONNECT packets that the home broker and the other broker received.
        let home: [Connect]
        let other: [Connect]
        /// The number of connections to the other broker, with or without a CONNECT.
        let visits: Int
        let asked: [String]
        let errors: [CourierError]
    }

    /// Runs a client whose broker at 127.0.0.1 redirects it once to `host`, where another broker listens.
    private static func redirectResponse(
        to host: String = "127.0.0.2", _ code: PacketReasonCode = .useAnotherServer,
        _ change: (inout MQTTClientConfig) -> Void = { _ in }
    ) async throws -> Outcome {
        let other = try ScriptedBroker.start(at: .tcp(host: host))
        let home = try ScriptedBroker.start([
            .connection([.refuse(code, properties: [.serverReference("\(host):\(other.port)")])])
        ])
        let provider = HostProvider(port: home.port)
        var config = MQTTClientConfig(authService: provider, autoReconnectInterval: 1, maxAutoReconnectInterval: 1)
        config.deliveryQueue = DispatchQueue(label: "redirect")
        config.reconnect.jitter = .none
        config.environment.networkMonitor = AlwaysAvailableNetwork()
        change(&config)
        let client = CourierClientFactory().makeMQTTClient(config: config)
        let errors = Series<CourierError>()
        let watching = client.eventPublisher.sink { event in
            if let error = event.type.error as? CourierError { errors.append(error) }
        }
        client.connect()
        try await client.connected()
        let (atHome, elsewhere) = await (home.connections, other.connections)
        watching.cancel()
        await client.disconnectAndWait()
        client.destroy()
        await home.shutdown()
        await other.shutdown()
        return Outcome(
            home: atHome.compactMap(\.connect), other: elsewhere.compactMap(\.connect), visits: elsewhere.count,
            asked: provider.asked.values, errors: errors.values)
    }

    @Test(arguments: [PacketReasonCode.useAnotherServer, .serverMoved])
    func `a redirect to a host that is not allowed is not followed, and an event names the host`(
        _ code: PacketReasonCode
    ) async throws {
        let outcome = try await Self.redirectResponse(to: "127.0.0.2", code)
        #expect(outcome.visits == 0)
        #expect(outcome.home.count == 2, "the client is back at its own broker")
        #expect(!outcome.asked.contains("127.0.0.2"))
        let text = outcome.errors.first?.message ?? ""
        #expect(text.contains("127.0.0.2:") && text.contains("MQTTClientConfig.endpoints.redirects.allowedHosts"))
    }

    @Test func `a redirect to another port of the same host is followed with the same credentials`() async throws {
        let outcome = try await Self.redirectResponse(to: "127.0.0.1")
        #expect(outcome.other.map(\.username) == ["home"])
        #expect(outcome.asked == ["home"])
    }

    @Test func `with allowedHosts = fromProvider, a redirect uses the provider's credentials for the new host`()
        async throws
    {
        let outcome = try await Self.redirectResponse {
            $0.endpoints.redirects.allowedHosts = ["127.0.0.2": .fromProvider]
        }
        #expect(outcome.other.map(\.username) == ["node"])
        #expect(outcome.asked == ["home", "127.0.0.2"])
    }

    @Test func `with allowedHosts = reused, a redirect uses the current credentials`() async throws {
        let outcome = try await Self.redirectResponse { $0.endpoints.redirects.allowedHosts = ["127.0.0.2": .reused] }
        #expect(outcome.other.map(\.username) == ["home"])
        #expect(outcome.asked == ["home"])
    }
}
