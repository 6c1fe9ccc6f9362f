import CourierCore
import CourierTesting
import CourierTransport
import MQTTCodec
import Synchronization
import TestSupport
import Testing

@testable import CourierMQTT

/// The client's reaction to each end of an attempt or a connection, from the broker's bytes to the next connection.
@Suite(.timeLimit(.minutes(5))) struct ScriptedReasonTests {
    /// The visible reaction to a reason code. The tests list it again and do not read it from the table under test.
    enum Outcome: Sendable {
        case nextAfter(seconds: Int)
        case asksAnew
        case stops
    }

    struct Case: Sendable, CustomStringConvertible {
        let code: PacketReasonCode
        let outcome: Outcome
        var description: String { "\(code)" }
    }

    private static func cases(_ outcome: Outcome, _ codes: PacketReasonCode...) -> [Case] {
        codes.map { Case(code: $0, outcome: outcome) }
    }

    static let refusals5: [Case] =
        cases(
            .nextAfter(seconds: 1), .unspecifiedError, .malformedPacket, .protocolError, .implementationSpecificError,
            .serverUnavailable, .serverBusy, .quotaExceeded, .connectionRateExceeded, .useAnotherServer)
        + cases(.asksAnew, .badUserNameOrPassword, .notAuthorized, .serverMoved)
        + cases(
            .stops, .unsupportedProtocolVersion, .clientIdentifierNotValid, .banned, .badAuthenticationMethod,
            .topicNameInvalid, .payloadFormatInvalid, .retainNotSupported, .qosNotSupported, .packetTooLarge)

    static let refusals311: [Case] =
        cases(.nextAfter(seconds: 1), .serverUnavailable) + cases(.asksAnew, .badUserNameOrPassword, .notAuthorized)
        + cases(.stops, .unsupportedProtocolVersion, .clientIdentifierNotValid)

    static let goodbyes: [Case] =
        cases(
            .nextAfter(seconds: 1), .success, .unspecifiedError, .malformedPacket, .protocolError,
            .implementationSpecificError, .serverBusy, .serverShuttingDown, .topicFilterInvalid, .topicNameInvalid,
            .receiveMaximumExceeded, .topicAliasInvalid, .packetTooLarge, .messageRateTooHigh, .quotaExceeded,
            .administrativeAction, .payloadFormatInvalid, .retainNotSupported, .qosNotSupported, .useAnotherServer,
            .sharedSubscriptionsNotSupported, .connectionRateExceeded, .subscriptionIdentifiersNotSupported,
            .wildcardSubscriptionsNotSupported)
        + cases(.nextAfter(seconds: 0), .keepAliveTimeout, .maximumConnectTime)
        + cases(.nextAfter(seconds: 60), .sessionTakenOver)
        + cases(.asksAnew, .notAuthorized, .serverMoved) + cases(.stops, .badAuthenticationMethod)

    @Test func `this suite has a test case for each CONNACK and DISCONNECT code of LossPolicy`() {
        let causes = LossPolicy.rows.flatMap(\.causes)
        for one in Self.refusals5 { #expect(causes.contains(.refused(one.code)), "\(one)") }
        for one in Self.goodbyes { #expect(causes.contains(.disconnected(one.code)), "\(one)") }
        let count = causes.count {
            if case .refused = $0 { true } else if case .disconnected = $0 { true } else { false }
        }
        #expect(count == Self.refusals5.count + Self.goodbyes.count)
    }

    @Test(arguments: refusals5) func `each CONNACK code of MQTT 5 leads to a delayed retry, new credentials or a stop`(
        _ one: Case
    ) async throws {
        try await Self.check(one, .version5, [.refuse(one.code)], "connectionFailure")
    }

    @Test(arguments: refusals311)
    func `each CONNACK code of MQTT 3.1.1 leads to a delayed retry, new credentials or a stop`(_ one: Case) async throws
    {
        try await Self.check(one, .version311, [.refuse(one.code)], "connectionFailure")
    }

    @Test(arguments: goodbyes) func `each DISCONNECT code of MQTT 5 leads to a reconnect, new credentials or a stop`(
        _ one: Case
    ) async throws {
        try await Self.check(one, .version5, [.accept(), .disconnect(one.code)], "connectionLost")
    }

    private static func check(
        _ one: Case, _ version: ProtocolVersionPolicy, _ steps: [ScriptStep], _ event: String
    ) async throws {
        try await ScriptedWorld.run([.connection(steps)]) {
            $0.protocolVersion = version
        } _: { world in
            await world.connect()
            let error = try #require(world.errors(of: event).first)
            #expect(world.errors(of: event).count == 1)
            #expect(error.message.contains("0x") || version == .version311 || one.code == .success)
            switch one.outcome {
            case .nextAfter(let seconds):
                await world.run(for: .seconds(seconds))
                #expect(await world.connectTimes == [.zero, .seconds(seconds)])
                #expect(world.client.connectionState == .connected)
                #expect(world.provider.asked.count == 1 && world.provider.cleared.isEmpty)
            case .asksAnew:
                #expect(await world.connectTimes == [.zero, .zero])
                #expect(world.provider.asked.count == 2 && world.provider.cleared.count == 1)
            case .stops:
                await world.run(for: .seconds(10_000))
                #expect(await world.connectTimes == [.zero])
                #expect(world.client.connectionState == .disconnected)
                #expect(error.message.contains("connect()"))
                let answer = await world.connectedAnswer()
                #expect(answer?.failure?.code == error.code)
                await world.connect()
                #expect(world.client.connectionState == .connected)
            }
        }
    }

    // MARK: Redirects

    private static func redirectResponse(
        _ script: [ConnectionScript], _ body: (ScriptedWorld, Series<String>) async throws -> Void
    ) async throws {
        let places = Series<String>()
        try await ScriptedWorld.run(script) { config in
            for host in ["other", "::2", "server1", "server2", "server3", "server4"] {
                config.endpoints.redirects.allowedHosts[host] = .reused
            }
            let endpoint = config.endpoint
            config.endpoint = { options in
                places.append("\(options.host):\(options.port)")
                return endpoint?(options) ?? .tcp(host: options.host, port: options.port)
            }
        } _: { world in
            try await body(world, places)
        }
    }

    static func refuse(_ code: PacketReasonCode, to server: String) -> ConnectionScript {
        .connection([.refuse(code, properties: [.serverReference(server)])])
    }

    @Test func `reason code 0x9C (use another server) redirects the client at once for one connection`() async throws {
        let script = [
            Self.refuse(.useAnotherServer, to: "other:1884"),
            .connection([.accept(), .pause(.seconds(20)), .cut(.orderly)]),
        ]
        try await Self.redirectResponse(script) { world, places in
            await world.connect()
            #expect(await world.connectTimes == [.zero, .zero])
            await world.run(for: .seconds(30))
            let home = "broker.invalid:\(world.broker.port)"
            #expect(places.values == [home, "other:1884", home])
        }
    }

    @Test func `reason code 0x9D (server moved) redirects the client permanently`() async throws {
        let script: [ConnectionScript] = [
            .connection([.accept(), .disconnect(.serverMoved, serverReference: "[::2]:99 other")]),
            .connection([.accept(), .pause(.seconds(20)), .cut(.orderly)]),
            .connection([.accept(), .pause(.seconds(20)), .cut(.orderly)]),
        ]
        try await Self.redirectResponse(script) { world, places in
            await world.connect()
            await world.run(for: .seconds(60))
            #expect(places.values == ["broker.invalid:\(world.broker.port)", "::2:99", "::2:99", "::2:99"])
        }
    }

    @Test func `after three redirects in a row, the client connects to the configured broker again`() async throws {
        let script = (1...4).map { Self.refuse(.useAnotherServer, to: "server\($0):1") }
        try await Self.redirectResponse(script) { world, places in
            await world.connect()
            let home = "broker.invalid:\(world.broker.port)"
            #expect(places.values == [home, "server1:1", "server2:1", "server3:1"])
            await world.run(for: .seconds(1))
            #expect(places.values.last == home)
        }
    }

    // MARK: Versions

    @Test(arguments: [ScriptStep.refuse(.unsupportedProtocolVersion), .closeWithoutAnswer()])
    func `with preferVersion5, a refused MQTT 5 CONNECT is retried at once with the older version`(
        _ refusal: ScriptStep
    ) async throws {
        let script: [ConnectionScript] = [
            .connection([refusal]), .connection([.accept(), .pause(.seconds(20)), .cut(.orderly)]),
        ]
        try await ScriptedWorld.run(script) {
            $0.protocolVersion = .preferVersion5
        } _: { world in
            await world.connect()
            #expect(await world.connectTimes == [.zero, .zero])
            await world.run(for: .seconds(30))
            #expect(await world.broker.connections.map(\.connect?.version) == [.v5, .v311, .v311])
        }
    }

    @Test func `with preferVersion5, an MQTT 3 CONNACK with return code 1 leads to the older MQTT version`()
        async throws
    {
        let old = ConnectionScript.connection([.expect(.connect), .sendBytes([0x20, 2, 0, 1]), .cut(.orderly)])
        try await ScriptedWorld.run([old]) {
            $0.protocolVersion = .preferVersion5
        } _: { world in
            await world.connect()
            #expect(await world.broker.connections.map(\.connect?.version) == [.v5, .v311])
            #expect(world.client.connectionState == .connected)
        }
    }

    @Test func `with preferVersion5, the client tries MQTT 5 again if neither version receives a CONNACK`()
        async throws
    {
        let silent = ConnectionScript.connection([.closeWithoutAnswer()])
        try await ScriptedWorld.run([silent, silent]) {
            $0.protocolVersion = .preferVersion5
        } _: { world in
            await world.connect()
            await world.run(for: .seconds(10))
            #expect(await world.broker.connections.map(\.connect?.version) == [.v5, .v311, .v5])
        }
    }

    // MARK: Protocol violations

    static let violations: [(String, ScriptStep, CourierError.Code)] = [
        ("a second CONNACK", .send(.connAck(ConnAck())), .protocolViolation),
        ("a CONNECT", .sendBytes([0x10, 0]), .malformedPacket),
        ("a reserved packet type", .sendBytes([0x00, 0]), .malformedPacket),
        ("a PINGREQ", .sendBytes([0xC0, 0]), .malformedPacket),
        ("a length of five bytes", .sendBytes([0x30, 0xFF, 0xFF, 0xFF, 0xFF, 0x01]), .malformedPacket),
        ("QoS 3", .sendBytes([0x36, 5, 0, 1, 0x61, 0, 1]), .malformedPacket),
        ("a topic with a wildcard", .sendBytes([0x30, 4, 0, 1, 0x23, 0]), .malformedPacket),
        ("an alias that stands for nothing", .sendBytes([0x30, 6, 0, 0, 3, 0x23, 0, 1]), .protocolViolation),
        ("an alias that is too large", .sendBytes([0x30, 7, 0, 1, 0x61, 3, 0x23, 0xFF, 0]), .protocolViolation),
        ("an AUTH that nobody asked for", .sendBytes([0xF0, 0]), .protocolViolation),
    ]

    @Test(arguments: violations.indices)
    func `a protocol violation by the broker ends the connection, and the client reconnects`(
        _ index: Int
    ) async throws {
        let (what, step, code) = Self.violations[index]
        try await ScriptedWorld.run([.connection([.accept(), step])]) { world in
            await world.connect()
            let errors = world.errors(of: "connectionLost").map(\.code)
            #expect(errors == [code], "\(what)")
            await world.run(for: .seconds(1))
            #expect(await world.connectTimes == [.zero, .seconds(1)], "\(what)")
            let goodbye = await world.broker.packets(.disconnect, on: 1).first?.packet.disconnect
            #expect(goodbye?.reasonCode.isFailure == true, "\(what)")
        }
    }

    @Test func `an attempt fails if the broker sends an HTTP response instead of CONNACK`() async throws {
        let http = Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8)
        try await ScriptedWorld.run([.connection([.expect(.connect), .sendBytes(http)])]) { world in
            await world.connect()
            #expect(world.errors(of: "connectionFailure").count == 1)
            await world.run(for: .seconds(1))
            #expect(await world.connectTimes == [.zero, .seconds(1)])
        }
    }

    @Test func `an attempt fails with protocolViolation if a packet is received before CONNACK`() async throws {
        let script = ConnectionScript.connection([.expect(.connect), .send(.pingResp)])
        try await ScriptedWorld.run([script]) { world in
            await world.connect()
            #expect(world.errors(of: "connectionFailure").map(\.code) == [.protocolViolation])
            await world.run(for: .seconds(1))
            #expect(world.client.connectionState == .connected)
        }
    }

    @Test func `an attempt with a clean session fails if CONNACK reports a present session`() async throws {
        let provider = ScriptedProvider([], clean: true)
        try await ScriptedWorld.run([.connection([.accept(isSessionPresent: true)])], provider: provider) { world in
            await world.connect()
            #expect(world.errors(of: "connectionFailure").map(\.code) == [.protocolViolation])
            await world.run(for: .seconds(1))
            #expect(world.client.connectionState == .connected)
        }
    }

    // MARK: Failed transports and options

    @Test func `if the Unix socket does not exist, the attempt is repeated after the reconnect delay`() async throws {
        // Another process may open a free port, but no process creates this socket.
        let nowhere = TransportEndpoint.unix(path: "/nonexistent/courier.socket")
        try await ScriptedWorld.run {
            $0.endpoint = { _ in nowhere }
        } _: { world in
            world.client.connect()
            await world.until { world.events.contains("connectionFailure") }
            #expect(world.errors(of: "connectionFailure").map(\.code) == [.connectionFailed])
            await world.run(for: .seconds(1))
            await world.until { world.events.count { $0 == "connectionFailure" } == 2 }
            #expect(world.events.count { $0 == "connectionAttempt" } == 2)
        }
    }

    @Test func `an attempt fails if the server does not speak TLS, and the client retries after 1 s`() async throws {
        let plain = ConnectionScript.connection([.sendBytes(Array("220 not TLS\r\n".utf8)), .stall])
        try await ScriptedWorld.run([plain, plain], isScriptChecked: false) { config in
            var tls = TLSClientConfiguration()
            tls.serverName = "broker.invalid"
            config.tls = tls
        } _: { world in
            world.client.connect()
            await world.until { world.events.contains("connectionFailure") }
            #expect(world.errors(of: "connectionFailure").map(\.code) == [.secureConnectionFailed])
            await world.run(for: .milliseconds(999))
            #expect(world.events.count { $0 == "connectionAttempt" } == 1)
            await world.run(for: .milliseconds(1))
            await world.until { world.events.count { $0 == "connectionFailure" } == 2 }
            #expect(world.events.count { $0 == "connectionAttempt" } == 2)
        }
    }

    @Test(arguments: [CutStyle.orderly, .reset])
    func `the client reconnects after the reconnect delay when a connection breaks`(_ style: CutStyle) async throws {
        try await ScriptedWorld.run([.connection([.accept(), .pause(.seconds(100)), .cut(style)])]) { world in
            await world.connect()
            await world.run(for: .seconds(200))
            #expect(world.errors(of: "connectionLost").map(\.code) == [.connectionLost])
            #expect(await world.connectTimes == [.zero, .seconds(101)])
        }
    }

    @Test func `the client stops if the provider returns invalid connect options`() async throws {
        let bad = ConnectOptions(host: "h", port: 1, clientId: "a\u{0}b", username: "", password: "")
        let provider = ScriptedProvider([.options(bad)])
        try await ScriptedWorld.run(provider: provider) {
            $0.endpoint = nil
        } _: { world in
            await world.connect()
            #expect(world.errors(of: "connectionFailure").map(\.code) == [.invalidConfiguration])
            await world.run(for: .seconds(1_000))
            #expect(world.events.count { $0 == "connectionAttempt" } == 1)
            #expect(await world.connectedAnswer()?.failure?.code == .invalidConfiguration)
        }
    }
}
