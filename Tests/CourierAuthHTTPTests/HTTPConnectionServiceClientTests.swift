import CourierCore
import CourierMQTT
import Dispatch
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import CourierAuthHTTP

/// A client that gets its credentials from a token endpoint. The mosquitto accepts only current credentials.
@Suite(.timeLimit(.minutes(5))) struct HTTPConnectionServiceClientTests {
    private func client(_ server: HTTPServer, _ broker: TokenBroker, id: String) throws -> any CourierClient {
        try client(server.url(), broker.port, id: id)
    }

    private func client(_ url: URL, _ port: UInt16, id: String, pause: UInt16 = 1) throws -> any CourierClient {
        var options = HTTPConnectionServiceOptions()
        options.timeout = .seconds(60)
        let provider = try HTTPConnectionServiceProvider(
            clientID: id, request: TokenRequest(url: url),
            mapping: ConnectOptionsMapping(
                host: .fixed("127.0.0.1"), port: .fixed(port), username: "user", password: "token",
                expiry: .after("expires_in")),
            options: options)
        var config = MQTTClientConfig(provider: provider)
        config.deliveryQueue = DispatchQueue(label: "test.delivery")
        config.autoReconnectInterval = pause
        config.maxAutoReconnectInterval = pause
        config.reconnect.jitter = .none
        return CourierClientFactory().makeMQTTClient(config: config)
    }

    private static func answer(_ user: String, _ token: String, expiresIn seconds: Int) -> HTTPServer.Answer {
        .json(#"{"user": "\#(user)", "token": "\#(token)", "expires_in": \#(seconds)}"#)
    }

    @Test func `if the broker refuses a token, the client fetches a new token, even if the first fetch returns 401`()
        async throws
    {
        let broker = try await TokenBroker(["ada": "t0"])
        let current = Mutex("t0")
        try await HTTPServer.run { _, number in
            number == 1 ? .reply(401) : Self.answer("ada", current.withLock { $0 }, expiresIn: 3_600)
        } _: { server in
            let client = try client(server, broker, id: "refused")
            var events = client.events.makeAsyncIterator()
            client.connect()
            try await client.connected()
            current.withLock { $0 = "t1" }
            try broker.change(to: ["ada": "t1"])

            var told: [String] = []
            while let event = await events.next() {
                switch event.type {
                case .connectionServiceAuthStart: told.append("ask")
                case .connectionServiceAuthSuccess: told.append("given")
                case .connectionServiceAuthFailure(_, let error):
                    guard case AuthError.httpError(401)? = (error as? CourierError)?.cause as? AuthError else {
                        Issue.record("\(error)")
                        break
                    }
                    told.append("401")
                case .connectionSuccess: told.append("in")
                case .connectionFailure: told.append("refused")
                case .connectionLost: told.append("lost")
                default: break
                }
                if told.count(where: { $0 == "in" }) == 2 { break }
            }
            #expect(
                told == ["ask", "given", "in", "lost", "refused", "ask", "401", "ask", "given", "in"], "\(told)")
            #expect(server.requests.count == 3)
            try await client.connected()
            client.destroy()
        }
        await broker.broker.remove()
    }

    @Test func `an expiring token is renewed, and the connection to the broker is not lost`() async throws {
        let broker = try await TokenBroker(["ada0": "t0", "ada1": "t1"])
        // If a busy machine cannot connect within half of the lifetime, the test repeats with a longer lifetime.
        var life = 5
        while try await !isRenewed(after: life, by: broker) { life *= 3 }
        await broker.broker.remove()
    }

    /// Returns whether a client with a token of `life` seconds connected in the first half, and so had to renew it.
    private func isRenewed(after life: Int, by broker: TokenBroker) async throws -> Bool {
        var isInTime = false
        try await HTTPServer.run { _, number in
            Self.answer("ada\(min(number, 1))", "t\(min(number, 1))", expiresIn: number == 0 ? life : 3_600)
        } _: { server in
            let client = try client(server, broker, id: "renewed")
            defer { client.destroy() }
            var events = client.events.makeAsyncIterator()
            let start = ContinuousClock.now
            client.connect()
            try await client.connected()
            isInTime = start.duration(to: .now) < .seconds(life) / 2
            guard isInTime else { return }
            var users: [String] = []
            var losses = 0
            while users.last != "ada1", let event = await events.next() {
                switch event.type {
                case .connectionSuccess: users.append(event.connectionInfo?.username ?? "?")
                case .connectionLost, .connectionFailure, .connectionServiceAuthFailure: losses += 1
                default: break
                }
            }
            #expect(users == ["ada0", "ada1"])
            #expect(losses == 0)
            #expect(server.requests.count == 2)
        }
        return isInTime
    }

    @Test func `the error for an unreachable token endpoint names the origin and the cause, but no secret`()
        async throws
    {
        let port = try LocalPort.free()
        let url = try #require(URL(string: "http://127.0.0.1:\(port)/s3cret?token=s3cret"))
        let client = try client(url, 1, id: "alone")
        var events = client.events.makeAsyncIterator()
        client.connect()
        while let event = await events.next() {
            guard case .connectionServiceAuthFailure(_, let error) = event.type else { continue }
            let told = try #require(error as? CourierError)
            #expect(
                told.message
                    == "The credential service http://127.0.0.1:\(port) cannot be reached: the connection was refused."
            )
            #expect(!"\(told)".contains("s3cret"))
            break
        }
        await client.disconnectAndWait()
    }

    /// The example from docs/guides/auth.md.
    private func signIn(_ client: any CourierClient) async throws {
        let refusal = Mutex<AuthError?>(nil)
        let watch = client.eventPublisher.sink { event in
            guard case .connectionServiceAuthFailure(_, let error) = event.type,
                let reason = (error as? CourierError)?.cause as? AuthError, case .httpError(401) = reason
            else { return }
            refusal.withLock { $0 = reason }
            client.disconnect()
        }
        defer { watch.cancel() }
        client.connect()
        do { try await client.connected() } catch { throw refusal.withLock { $0 } ?? error }
    }

    @Test func `disconnect() after a 401 ends the connection attempts`() async throws {
        try await HTTPServer.run { _, number in
            .reply(number == 0 ? 500 : 401)
        } _: { server in
            // The request count below would show a second request after a 401.
            let client = try client(server.url(), 1, id: "unwanted", pause: 3_600)
            for _ in 0..<3 {
                let error = await #expect(throws: AuthError.self) { try await self.signIn(client) }
                guard case .httpError(401)? = error else {
                    Issue.record("\(String(describing: error))")
                    return
                }
                await client.disconnectAndWait()
                #expect(client.connectionState == .disconnected)
            }
            #expect(server.requests.count == 4, "asked again after a 500, and not after a 401")
        }
    }
}
