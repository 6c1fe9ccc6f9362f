import CourierCore
import CourierTesting
import CourierTransport
import Foundation
import MQTTCodec
import Synchronization
import Testing

@testable import CourierMQTT

/// The `LoopbackBroker` for apps' tests, as clients see it.
@Suite(.timeLimit(.minutes(5))) struct LoopbackBrokerTests {
    /// Returns "token 1", then "token 2", and so on. `good` is the token that the broker accepts.
    private final class Tokens: ConnectionServiceProvider {
        let clientID = "ada"
        let port = Mutex<UInt16>(0)
        let good = Mutex(SecretBytes("token 1"))
        private let count = Mutex(0)

        func connectOptions() async throws -> ConnectGrant {
            let number = count.withLock { count in
                count += 1
                return count
            }
            return ConnectGrant(
                ConnectOptions(
                    host: "127.0.0.1", port: port.withLock { $0 }, clientId: clientID, username: "ada",
                    password: "token \(number)"))
        }
    }

    @Test(arguments: [ProtocolVersionPolicy.version5, .version311])
    func `a client that is disconnected because its token expired reconnects with a new token`(
        _ version: ProtocolVersionPolicy
    ) async throws {
        let tokens = Tokens()
        var rules = BrokerConfiguration()
        rules.authentication = .check { connect in
            tokens.good.withLock { connect.password == $0 } ? nil : .notAuthorized
        }
        let broker = try LoopbackBroker.start(configuration: rules)
        tokens.port.withLock { $0 = broker.port }
        let test = try TestClient(MQTTClientConfig(provider: tokens)) { $0.protocolVersion = version }
        try await test.connect()
        var texts = test.client.messages(String.self, from: "n").makeAsyncIterator()
        try await test.client.subscribe(to: "n")

        tokens.good.withLock { $0 = SecretBytes("token 2") }
        broker.disconnect("nobody")
        broker.disconnect("ada", reasonCode: .notAuthorized)
        try await test.wait(for: "connectionSuccess", count: 2)
        try await test.client.publish("after", to: "n")
        #expect(try await texts.next() == "after")
        try await test.end()
        await broker.shutdown()
    }
}
