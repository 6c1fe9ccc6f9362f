import CourierCore
import CourierTesting
import Foundation
import MQTTCodec
import Synchronization
import Testing

@testable import CourierMQTT

/// Extended authentication of MQTT 5: challenges before CONNACK, and reauthentication on an open connection.
@Suite(.timeLimit(.minutes(5))) struct ScriptedExtendedAuthenticationTests {
    private struct NoAnswer: Error {}

    /// Returns a new token for each request. Only the first token expires. Answers a challenge with its reversed text.
    private final class TokenProvider: ConnectionServiceProvider {
        private let count = Mutex(0)
        private let answers: Bool
        var clientID: String { "scripted" }

        init(answers: Bool = true) { self.answers = answers }

        func connectOptions() async throws -> ConnectGrant {
            let number = count.withLock { count in
                count += 1
                return count
            }
            let options = ConnectOptions(
                host: "broker.invalid", port: 1883, keepAlive: 0, clientId: "scripted", username: "", password: "",
                extendedAuthentication: ExtendedAuthentication(method: "TOKEN", data: Data("token \(number)".utf8)))
            return ConnectGrant(options, expiresAt: number == 1 ? Date(timeIntervalSinceNow: 1_000) : nil)
        }

        func answer(_ challenge: Data?, method: String) async throws -> Data {
            guard answers else { throw NoAnswer() }
            return Data((challenge ?? Data()).reversed())
        }
    }

    /// Answers a challenge with its reversed text. The first answer waits for ``endFirst(_:)``, also when cancelled.
    private final class SlowProvider: ConnectionServiceProvider {
        private struct State {
            var asked: [String] = []
            var running = 0
            var mostRunning = 0
            var held: CheckedContinuation<Void, any Error>?
        }

        private let state = Mutex(State())
        var clientID: String { "scripted" }
        var asked: [String] { state.withLock { $0.asked } }
        var mostRunning: Int { state.withLock { $0.mostRunning } }
        var isHolding: Bool { state.withLock { $0.held != nil } }

        func connectOptions() async throws -> ConnectGrant {
            ConnectGrant(
                ConnectOptions(
                    host: "broker.invalid", port: 1883, keepAlive: 0, clientId: "scripted", username: "", password: "",
                    extendedAuthentication: ExtendedAuthentication(method: "TOKEN")))
        }

        func answer(_ challenge: Data?, method: String) async throws -> Data {
            let challenge = challenge ?? Data()
            let isFirst = state.withLock { state in
                state.asked.append(String(decoding: challenge, as: UTF8.self))
                state.running += 1
                state.mostRunning = max(state.mostRunning, state.running)
                return state.asked.count == 1
            }
            defer { state.withLock { $0.running -= 1 } }
            if isFirst {
                try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                    state.withLock { $0.held = continuation }
                }
            }
            return Data(challenge.reversed())
        }

        func endFirst(_ result: Result<Void, any Error>) {
            let held = state.withLock { state in
                defer { state.held = nil }
                return state.held
            }
            held?.resume(with: result)
        }
    }

    private static func run(
        _ script: [ConnectionScript], _ provider: any ConnectionServiceProvider = TokenProvider(),
        _ body: (ScriptedWorld) async throws -> Void
    ) async throws {
        try await ScriptedWorld.run(script) { config in
            let given = config
            config = MQTTClientConfig(provider: provider)
            config.deliveryQueue = given.deliveryQueue
            config.environment.eventLoops = given.environment.eventLoops
            config.endpoint = given.endpoint
            config.environment.networkMonitor = given.environment.networkMonitor
            config.reconnect.jitter = .none
        } _: { world in
            try await body(world)
        }
    }

    private static func auth(_ code: PacketReasonCode, _ text: String) -> ScriptStep {
        .send(
            .auth(
                Auth(
                    reasonCode: code,
                    properties: [.authenticationMethod("TOKEN"), .authenticationData(SecretBytes(Array(text.utf8)))])))
    }

    /// The client's AUTH packets, each as "again" or "next" with its authentication data.
    private static func said(_ world: ScriptedWorld) async -> [String] {
        await world.broker.packets(.auth).compactMap { received in
            guard case .auth(let auth) = received.packet else { return nil }
            let text = String(decoding: auth.properties.authenticationData?.bytes ?? [], as: UTF8.self)
            return "\(auth.reasonCode == .reauthenticate ? "again" : "next"): \(text)"
        }
    }

    /// [MQTT-4.12.0-3]
    @Test func `the provider answers an authentication challenge before CONNACK`() async throws {
        let script = ConnectionScript.connection([
            .expect(.connect), Self.auth(.continueAuthentication, "abc"), .expect(.auth),
            .send(.connAck(ConnAck(properties: [.authenticationMethod("TOKEN")]))),
        ])
        try await Self.run([script]) { world in
            await world.connect()
            await world.until { world.client.connectionState == .connected }
            #expect(await Self.said(world) == ["next: cba"])
            let connect = await world.broker.connections.first?.connect
            #expect(connect?.properties.authenticationMethod == "TOKEN")
            #expect(connect?.properties.authenticationData?.bytes == Array("token 1".utf8))
        }
    }

    @Test(arguments: [false, true])
    func `if more challenges arrive while the provider answers slowly, only the last challenge is answered`(
        _ fails: Bool
    )
        async throws
    {
        let script = ConnectionScript.connection([
            .expect(.connect), Self.auth(.continueAuthentication, "abc"), .pause(.seconds(1)),
            Self.auth(.continueAuthentication, "def"), Self.auth(.continueAuthentication, "ghi"), .expect(.auth),
            .send(.connAck(ConnAck(properties: [.authenticationMethod("TOKEN")]))),
        ])
        let provider = SlowProvider()
        try await Self.run([script], provider) { world in
            await world.connect()
            await world.until { provider.isHolding }
            await world.run(for: .seconds(1))
            #expect(provider.asked == ["abc"], "one at a time")
            provider.endFirst(fails ? .failure(CancellationError()) : .success(()))
            await world.until { world.client.connectionState == .connected }
            #expect(provider.asked == ["abc", "ghi"])
            #expect(provider.mostRunning == 1)
            #expect(await Self.said(world) == ["next: ihg"])
            #expect(!world.events.contains("connectionFailure"))
        }
    }

    @Test func `an attempt fails and is repeated if the provider throws an error for a challenge`() async throws {
        let script = ConnectionScript.connection([.expect(.connect), Self.auth(.continueAuthentication, "abc")])
        try await Self.run([script], TokenProvider(answers: false)) { world in
            await world.connect()
            await world.until { world.events.contains("connectionFailure") }
            let error = try #require(world.errors(of: "connectionFailure").first)
            #expect(error.code == .authenticationFailed && error.cause is NoAnswer, "\(error)")
            await world.run(for: .seconds(6))
            await world.until { world.client.connectionState == .connected }
            #expect(await Self.said(world) == [])
        }
    }

    /// [MQTT-4.12.1-2]
    @Test func `a connection ends with authenticationFailed if the provider throws an error for a challenge`()
        async throws
    {
        let script = ConnectionScript.connection([
            .accept(), .serve(until: .auth), Self.auth(.continueAuthentication, "xyz"),
        ])
        try await Self.run([script], TokenProvider(answers: false)) { world in
            await world.connect()
            await world.until { world.client.connectionState == .connected }
            await world.run(for: .seconds(975))
            await world.until { world.events.contains("connectionLost") }
            let error = try #require(world.errors(of: "connectionLost").first)
            #expect(error.code == .authenticationFailed && error.cause is NoAnswer, "\(error)")
            let last = await world.broker.packets(on: 1).last?.packet
            #expect(last == .disconnect(Disconnect(reasonCode: .unspecifiedError)))
            await world.run(for: .seconds(6))
            await world.until { world.client.connectionState == .connected }
        }
    }

    /// [MQTT-4.12.1-1]
    @Test func `reauthentication sends a new token on the existing connection`() async throws {
        let script = ConnectionScript.connection([
            .accept(), .serve(until: .auth), Self.auth(.continueAuthentication, "xyz"), .expect(.auth),
            Self.auth(.success, ""),
        ])
        try await Self.run([script]) { world in
            await world.connect()
            await world.until { world.client.connectionState == .connected }
            await world.run(for: .seconds(975))  // 30 s before the expiry. The wall clock runs during the test.
            await world.until { await Self.said(world).count == 2 }
            #expect(await Self.said(world) == ["again: token 2", "next: zyx"])
            #expect(await world.broker.connections.count == 1)
            #expect(world.client.connectionState == .connected)
        }
    }

    /// [MQTT-3.15.2-2], [MQTT-3.15.2-3]
    @Test func `AUTH contains only the authentication method and data, and is never too large for the broker`()
        async throws
    {
        let method = "TOKEN"
        // An AUTH with the code, "TOKEN" and "token 2" has 22 bytes, and the limit leaves no room for a text.
        let script = ConnectionScript.connection([
            .accept(properties: [.authenticationMethod(method), .maximumPacketSize(22)]), .serve(until: .auth),
            Self.auth(.continueAuthentication, "xyz"), .expect(.auth), Self.auth(.success, ""),
        ])
        try await Self.run([script]) { world in
            await world.connect()
            await world.until { world.client.connectionState == .connected }
            await world.run(for: .seconds(975))
            await world.until { await Self.said(world).count == 2 }
            let properties = await world.broker.packets(.auth).compactMap { received in
                if case .auth(let auth) = received.packet { auth.properties.list } else { nil }
            }
            let data = ["token 2", "zyx"].map { SecretBytes(Array($0.utf8)) }
            #expect(properties == data.map { [.authenticationMethod(method), .authenticationData($0)] })
        }
    }

    @Test func `the description of ExtendedAuthentication does not show the authentication data`() {
        let authentication = ExtendedAuthentication(method: "TOKEN", data: Data("s3cret".utf8))
        let options = ConnectOptions(
            host: "h", port: 1, clientId: "c", username: "", password: "", extendedAuthentication: authentication)
        var dumped = ""
        dump(options, to: &dumped)
        dump(authentication, to: &dumped)
        let said = "\(options) \(authentication) \(String(reflecting: authentication)) \(dumped)"
        #expect(said.contains("TOKEN") && !said.contains("s3cret") && !said.contains("115"))
    }
}
