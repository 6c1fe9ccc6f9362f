import CourierCore
import CourierTesting
import Foundation
import MQTTCodec
import Synchronization
import Testing

@testable import CourierMQTT

/// How the client requests, renews and clears credentials of its provider.
@Suite(.timeLimit(.minutes(5))) struct ScriptedAuthTests {
    private static func answers(_ error: AuthError, _ count: Int) -> ScriptedProvider {
        ScriptedProvider(Array(repeating: .failure(error), count: count))
    }

    @Test
    func `a provider that fails with HTTP 500 is asked again after 1, 2 and 4 s, and then after the reconnect delays`()
        async throws
    {
        let provider = Self.answers(.httpError(statusCode: 500), 8)
        try await ScriptedWorld.run(provider: provider) { world in
            await world.connect()
            await world.run(for: .seconds(100))
            // Delays of 1, 2 and 4 s, then the reconnect delays of 1, 2, 4, 8 and 16 s.
            #expect(provider.asked == .seconds(0, 1, 3, 7, 8, 10, 14, 22, 38))
            #expect(world.client.connectionState == .connected)
            #expect(world.events.count { $0 == "connectionServiceAuthFailure" } == 8)
            #expect(world.errors(of: "connectionServiceAuthFailure").allSatisfy { $0.code == .authenticationFailed })
            #expect(!world.events.contains("connectionUnavailable"))
        }
    }

    @Test(arguments: [400, 401, 403, 499])
    func `a provider that fails with HTTP status 400 to 499 is asked again after the reconnect delays`(_ status: Int)
        async throws
    {
        let provider = Self.answers(.httpError(statusCode: status), 4)
        try await ScriptedWorld.run(provider: provider) { world in
            await world.connect()
            await world.run(for: .seconds(100))
            #expect(provider.asked == .seconds(0, 1, 3, 7, 15))
            #expect(provider.cleared.isEmpty)
        }
    }

    @Test func `the first three retries after HTTP 503 from the provider have no jitter`() async throws {
        let provider = Self.answers(.httpError(statusCode: 503), 3)
        try await ScriptedWorld.run(provider: provider) {
            $0.reconnect.jitter = .full
        } _: { world in
            await world.connect()
            await world.run(for: .seconds(20))
            #expect(provider.asked == .seconds(0, 1, 3, 7))
        }
    }

    @Test func `a network error of the provider is reported as connectionUnavailable once`() async throws {
        let provider = Self.answers(.otherError(NSError(domain: NSURLErrorDomain, code: -1009)), 2)
        try await ScriptedWorld.run(provider: provider) { world in
            await world.connect()
            #expect(world.events.count { $0 == "connectionUnavailable" } == 1)
            await world.run(for: .seconds(10))
            #expect(provider.asked == .seconds(0, 1, 3))
            #expect(world.events.count { $0 == "connectionUnavailable" } == 1)
            #expect(world.events.count { $0 == "connectionAvailable" } == 1)
        }
    }

    @Test func `a provider that times out is asked again, and its late answer is ignored`() async throws {
        let provider = ScriptedProvider([.silence, .silence])
        try await ScriptedWorld.run(provider: provider) {
            $0.enableAuthenticationTimeout = true
            $0.authenticationTimeoutInterval = 10
        } _: { world in
            await world.connect()
            await world.run(for: .milliseconds(9_999))
            #expect(!world.events.contains("connectionServiceAuthFailure"))
            await world.run(for: .milliseconds(1))
            #expect(world.events.last == "connectionServiceAuthFailure")
            provider.completeKept()  // Too late: this answers an earlier request, and no request is open.
            await world.settle()
            #expect(await world.broker.connections.isEmpty)
            await world.run(for: .seconds(1 + 10 + 2))
            #expect(provider.asked == .seconds(0, 11, 23))
            #expect(world.client.connectionState == .connected)
            provider.completeKept()  // Too late: the client is connected.
            provider.completeKept(.failure(.httpError(statusCode: 500)))
            await world.run(for: .seconds(100))
            #expect(await world.broker.connections.count == 1)
            #expect(world.client.connectionState == .connected)
        }
    }

    @Test func `without an authentication timeout, the client waits for the provider without a limit`() async throws {
        let provider = ScriptedProvider([.silence])
        try await ScriptedWorld.run(provider: provider) { world in
            await world.connect()
            await world.run(for: .seconds(10_000))
            #expect(provider.asked == [.zero])
            #expect(world.client.connectionState == .connecting)
            world.client.connect()
            await world.settle()
            #expect(world.events.last == "connectDiscarded")
            provider.completeKept()
            await world.settle()
            #expect(world.client.connectionState == .connected)
        }
    }

    @Test func `a second answer of the provider to one request is ignored`() async throws {
        let provider = ScriptedProvider([.twice(.httpError(statusCode: 401))])
        try await ScriptedWorld.run(provider: provider) { world in
            await world.connect()
            await world.run(for: .seconds(50))
            #expect(await world.broker.connections.count == 1)
            #expect(world.client.connectionState == .connected)
            #expect(provider.asked.count == 1)
        }
    }

    @Test(
        arguments: [ProtocolVersionPolicy.version5, .version311],
        [PacketReasonCode.badUserNameOrPassword, .notAuthorized])
    func `after the first refusal, credentials are cleared and requested again at once; later refusals cause a delay`(
        _ version: ProtocolVersionPolicy, _ code: PacketReasonCode
    ) async throws {
        let other = ConnectOptions(
            host: "broker.invalid", port: 1883, clientId: "scripted", username: "second", password: "x")
        let provider = ScriptedProvider([.options(), .options(other)])
        let script = Array(repeating: ConnectionScript.connection([.refuse(code)]), count: 3)
        try await ScriptedWorld.run(script, provider: provider) {
            $0.protocolVersion = version
        } _: { world in
            await world.connect()
            #expect(provider.cleared == [.zero, .zero])
            #expect(provider.asked == [.zero, .zero])
            #expect(await world.broker.connections.map(\.connect?.username) == [nil, "second"])
            #expect(world.errors(of: "connectionFailure").map(\.code) == [.notAuthorized, .notAuthorized])
            for error in world.errors(of: "connectionFailure") {
                #expect(error.message.hasSuffix("the client asks the auth provider for new credentials."))
            }
            await world.run(for: .seconds(20))
            #expect(await world.connectTimes == .seconds(0, 0, 2, 6))
            #expect(provider.cleared.count == 3 && provider.asked.count == 4)
        }
    }

    @Test(arguments: [ProtocolVersionPolicy.version5, .version311])
    func `if the provider returns the refused credentials again, the error asks to check the user name and password`(
        _ version: ProtocolVersionPolicy
    ) async throws {
        let script = Array(repeating: ConnectionScript.connection([.refuse(.badUserNameOrPassword)]), count: 3)
        try await ScriptedWorld.run(script) {
            $0.protocolVersion = version
        } _: { world in
            await world.connect()
            await world.run(for: .seconds(20))
            let messages = world.errors(of: "connectionFailure").map(\.message)
            #expect(messages.count == 3)
            #expect(messages.first?.hasSuffix("the client asks the auth provider for new credentials.") == true)
            for message in messages.dropFirst() {
                #expect(message.contains("The auth provider returned credentials that the broker has already refused."))
                #expect(message.contains("Check the user name and the password, or the token."))
            }
        }
    }

    // MARK: Fixed connect options

    /// Configures a client of the scripted broker with fixed connect options and reconnect delays of 1 s, 2 s, 4 s, …
    private static func fix(_ config: inout MQTTClientConfig) {
        let given = config
        config = MQTTClientConfig(
            options: ConnectOptions(
                host: "broker.invalid", port: 1883, keepAlive: 0, clientId: "scripted", username: "ada",
                password: "wrong"))
        config.autoReconnectInterval = given.autoReconnectInterval
        config.maxAutoReconnectInterval = given.maxAutoReconnectInterval
        config.reconnect.jitter = given.reconnect.jitter
        config.deliveryQueue = given.deliveryQueue
        config.environment.eventLoops = given.environment.eventLoops
        config.endpoint = given.endpoint
        config.environment.networkMonitor = given.environment.networkMonitor
        config.protocolVersion = .version5
    }

    /// Waits until `count` attempts have failed.
    private static func failures(_ count: Int, _ world: ScriptedWorld) async {
        await world.until { world.events.count { $0 == "connectionFailure" } == count }
    }

    @Test(arguments: [PacketReasonCode.badUserNameOrPassword, .notAuthorized])
    func `fixed connect options that the broker refused are tried again after the reconnect delay`(
        _ code: PacketReasonCode
    )
        async throws
    {
        let script = Array(repeating: ConnectionScript.connection([.refuse(code)]), count: 2)
        try await ScriptedWorld.run(script) {
            Self.fix(&$0)
        } _: { world in
            world.client.connect()
            await Self.failures(1, world)
            await world.run(for: .milliseconds(999))
            #expect(await world.broker.connections.count == 1)
            await world.run(for: .milliseconds(1))
            await Self.failures(2, world)
            await world.run(for: .seconds(2))
            await world.until { world.client.connectionState == .connected }
            #expect(await world.connectTimes == .seconds(0, 1, 3))
        }
    }

    @Test func `if fixed connect options are refused, the error advises asking the broker's administrator`()
        async throws
    {
        try await ScriptedWorld.run([.connection([.refuse(.notAuthorized)])]) {
            Self.fix(&$0)
        } _: { world in
            world.client.connect()
            await Self.failures(1, world)
            let error = world.errors(of: "connectionFailure").first
            #expect(error?.message.contains("ask the broker's administrator for the permission") == true)
        }
    }

    @Test func `connected() throws if fixed connect options are refused, but a later retry connects`()
        async throws
    {
        let refusals = Array(repeating: ConnectionScript.connection([.refuse(.badUserNameOrPassword)]), count: 2)
        try await ScriptedWorld.run(refusals) {
            Self.fix(&$0)
        } _: { world in
            world.client.connect()
            let publish = try world.publish("kept")
            let waiting = Task { [client = world.client] in try await client.connected() }
            let error = await #expect(throws: CourierError.self) { try await waiting.value }
            #expect(error?.code == .notAuthorized)
            #expect(error?.message.contains("The client tries again after a pause.") == true)
            #expect(error?.message.contains("0x86") == true)
            // A call during the reconnect delay throws the same error at once.
            let again = await #expect(throws: CourierError.self) { try await world.client.connected() }
            #expect(again?.message == error?.message)
            await world.run(for: .seconds(1))
            await Self.failures(2, world)
            #expect(publish.value == nil, "nothing queued ends by a refusal")
            await world.run(for: .seconds(2))
            #expect(world.client.connectionState == .connected)
            await world.until { publish.value != nil }
            #expect(publish.value?.success != nil)
        }
    }

    @Test func `with whenRefused = stop, a refused client connects again only after connect()`() async throws {
        try await ScriptedWorld.run([.connection([.refuse(.badUserNameOrPassword)])]) {
            Self.fix(&$0)
            $0.reconnect.whenRefused = .stop
        } _: { world in
            world.client.connect()
            let error = await #expect(throws: CourierError.self) { try await world.client.connected() }
            #expect(error?.message.contains("waits for connect()") == true)
            await world.run(for: .seconds(1_000))
            #expect(await world.broker.connections.count == 1)
            await world.connect()
            #expect(world.client.connectionState == .connected)
        }
    }

    // MARK: Credentials that expire

    /// Returns options that expire. The second request returns options of another user, without an expiry.
    private final class EndingProvider: ConnectionServiceProvider {
        private let count = Mutex(0)
        var clientID: String { "scripted" }
        var asked: Int { count.withLock { $0 } }

        func connectOptions() async throws -> ConnectGrant {
            let number = count.withLock { count in
                count += 1
                return count
            }
            let options = ConnectOptions(
                host: "broker.invalid", port: 1883, keepAlive: 0, clientId: "scripted", username: "user\(number)",
                password: "")
            return ConnectGrant(options, expiresAt: number == 1 ? Date(timeIntervalSinceNow: 1_000) : nil)
        }
    }

    /// Returns the same options and the same expiry date for each request.
    private struct SteadyProvider: ConnectionServiceProvider {
        let clientID = "scripted"
        let end = Date(timeIntervalSinceNow: 1_000)

        func connectOptions() async throws -> ConnectGrant {
            let options = ConnectOptions(
                host: "broker.invalid", port: 1883, keepAlive: 0, clientId: clientID, username: "", password: "")
            return ConnectGrant(options, expiresAt: end)
        }
    }

    /// Replaces the provider of the configuration.
    private static func ask(_ provider: any ConnectionServiceProvider, _ config: inout MQTTClientConfig) {
        let given = config
        config = MQTTClientConfig(provider: provider)
        config.deliveryQueue = given.deliveryQueue
        config.environment.eventLoops = given.environment.eventLoops
        config.endpoint = given.endpoint
        config.environment.networkMonitor = given.environment.networkMonitor
        config.protocolVersion = .version5
    }

    @Test func `the delay until a credential renewal is computed from expiresAt when credentials are received`()
        async throws
    {
        try await ScriptedWorld.run {
            Self.ask(SteadyProvider(), &$0)
        } _: { world in
            await world.connect()
            try await world.broker.received(.connect)
            for count in 2...4 {
                await world.run(for: .seconds(900))
                #expect(world.events.count { $0 == "connectionServiceAuthSuccess" } == count - 1)
                // The virtual clock does not move the wall clock, so each renewal finds about 1,000 s left. The next
                // renewal follows 30 s before the end. It is a little earlier, because the wall clock also runs.
                await world.run(for: .seconds(75))
                await world.until { world.events.count { $0 == "connectionServiceAuthSuccess" } == count }
            }
            #expect(await world.broker.connections.count == 1)
        }
    }

    @Test func `credentials are renewed before they expire, and changed credentials cause a reconnect`() async throws {
        let provider = EndingProvider()
        try await ScriptedWorld.run {
            Self.ask(provider, &$0)
        } _: { world in
            await world.connect()
            try await world.broker.received(.connect)
            await world.run(for: .seconds(960))
            #expect(provider.asked == 1)
            await world.run(for: .seconds(15))  // 30 s before the expiry. The wall clock runs during the test.
            try await world.broker.received(.connect, on: 2)
            await world.settle()
            #expect(provider.asked == 2)
            #expect(await world.broker.packets(.disconnect, on: 1).count == 1)
            #expect(await world.broker.connections.map(\.connect?.username) == ["user1", "user2"])
            #expect(!world.events.contains("connectionLost"))
        }
    }
}
