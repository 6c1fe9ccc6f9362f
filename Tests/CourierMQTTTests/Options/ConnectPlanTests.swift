import CourierCore
import CourierTransport
import Foundation
import MQTTCodec
import MQTTEngine
import TestSupport
import Testing

@testable import CourierMQTT

@Suite struct ConnectPlanTests {
    private func options(
        host: String = "broker.example", port: UInt16 = 1883, username: String = "", password: String = "",
        isCleanSession: Bool = false, userProperties: [String: String]? = nil, alpn: [String]? = nil,
        scheme: String? = nil
    ) -> ConnectOptions {
        ConnectOptions(
            host: host, port: port, keepAlive: 45, clientId: "phone-7", username: username, password: password,
            isCleanSession: isCleanSession, userProperties: userProperties, alpn: alpn, scheme: scheme)
    }

    private func plan(
        _ options: ConnectOptions, endpoint: TransportEndpoint? = nil,
        _ change: (inout ConnectionSettings) -> Void = { _ in }
    ) throws -> ConnectPlan {
        var settings = ConnectionSettings()
        change(&settings)
        try settings.check()
        return try ConnectPlan(options, settings, endpoint: endpoint)
    }

    // MARK: The endpoint

    struct Way: Sendable, CustomTestStringConvertible {
        let scheme: String?
        var port: UInt16 = 1883
        var alpn: [String]?
        var hasTLSSettings = false
        let expected: String
        var testDescription: String {
            "\(scheme ?? "nil") \(port) \(alpn ?? []) \(hasTLSSettings) -> \(expected)"
        }
    }

    @Test(arguments: [
        Way(scheme: nil, expected: "mqtt://broker.example:1883"),
        Way(scheme: nil, port: 8883, expected: "mqtts://broker.example:8883"),
        Way(scheme: nil, alpn: ["mqtt"], expected: "mqtts://broker.example:1883"),
        Way(scheme: nil, alpn: [], expected: "mqtt://broker.example:1883"),
        Way(scheme: nil, hasTLSSettings: true, expected: "mqtts://broker.example:1883"),
        Way(scheme: "tcp", expected: "mqtt://broker.example:1883"),
        Way(scheme: "MQTT", port: 8883, expected: "mqtt://broker.example:8883"),
        Way(scheme: "tls", expected: "mqtts://broker.example:1883"),
        Way(scheme: "ssl", expected: "mqtts://broker.example:1883"),
        Way(scheme: "mqtts", alpn: ["a", "b"], hasTLSSettings: true, expected: "mqtts://broker.example:1883"),
    ])
    func `scheme, port, ALPN and TLS settings decide whether TLS is used`(_ way: Way) throws {
        let plan = try plan(options(port: way.port, alpn: way.alpn, scheme: way.scheme)) { settings in
            guard way.hasTLSSettings else { return }
            settings.tls = TLSClientConfiguration()
            settings.tls?.minimumVersion = .tls13
            settings.tls?.applicationProtocols = ["kept"]
        }
        #expect(plan.name == way.expected)
        #expect((plan.tls != nil) == way.expected.hasPrefix("mqtts"))
        #expect(plan.endpoint.description == "broker.example:\(way.port)")
        guard let tls = plan.tls else { return }
        #expect(tls.minimumVersion == (way.hasTLSSettings ? .tls13 : .tls12))
        #expect(tls.applicationProtocols == way.alpn ?? (way.hasTLSSettings ? ["kept"] : []))
        #expect(tls.trust == .systemRoots)
    }

    struct SocketWay: Sendable, CustomTestStringConvertible {
        let scheme: String?
        var host = "broker.example"
        var port: UInt16 = 8080
        var alpn: [String]?
        var hasTLSSettings = false
        var webSocket: WebSocketOptions? = WebSocketOptions(path: "/a/b?token=secret", headers: ["X-Token": "secret"])
        let expected: String?
        var offered: [String] = []
        var testDescription: String { "\(scheme ?? "nil") \(host) \(port) -> \(expected ?? "no WebSocket")" }
    }

    @Test(arguments: [
        SocketWay(scheme: "ws", webSocket: nil, expected: "ws://broker.example:8080/mqtt"),
        SocketWay(scheme: "WS", expected: "ws://broker.example:8080/a/b"),
        SocketWay(scheme: "ws", host: "[::1]", expected: "ws://[::1]:8080/a/b"),
        SocketWay(scheme: "wss", port: 443, expected: "wss://broker.example:443/a/b", offered: ["http/1.1"]),
        SocketWay(scheme: "wss", alpn: ["mqtt"], expected: "wss://broker.example:8080/a/b", offered: ["mqtt"]),
        SocketWay(scheme: "wss", hasTLSSettings: true, expected: "wss://broker.example:8080/a/b", offered: ["kept"]),
        SocketWay(scheme: nil, expected: "ws://broker.example:8080/a/b"),
        SocketWay(scheme: nil, port: 443, expected: "wss://broker.example:443/a/b", offered: ["http/1.1"]),
        SocketWay(scheme: nil, hasTLSSettings: true, expected: "wss://broker.example:8080/a/b", offered: ["kept"]),
        SocketWay(scheme: "unix", host: "/run/ws.sock", expected: "unix:/run/ws.sock"),
        SocketWay(scheme: "tcp", expected: nil), SocketWay(scheme: "tls", expected: nil),
    ])
    func `WebSocket is used if the scheme or the options request it`(_ way: SocketWay) throws {
        let options = ConnectOptions(
            host: way.host, port: way.port, clientId: "c", username: "", password: "", alpn: way.alpn,
            scheme: way.scheme, webSocket: way.webSocket)
        let plan = try plan(options) { settings in
            guard way.hasTLSSettings else { return }
            settings.tls = TLSClientConfiguration()
            settings.tls?.applicationProtocols = ["kept"]
        }
        guard let expected = way.expected else {
            #expect(plan.channel.webSocket == nil)
            return
        }
        #expect(plan.name == expected)
        #expect((plan.tls != nil) == expected.hasPrefix("wss"))
        #expect(plan.tls?.applicationProtocols ?? [] == way.offered)
        let webSocket = try #require(plan.channel.webSocket)
        #expect(webSocket.path == way.webSocket?.path ?? "/mqtt")
        #expect(webSocket.headers == way.webSocket?.headers ?? [:])
        #expect(webSocket.subprotocol == "mqtt")
    }

    @Test func `WebSocket over the app's own stream uses the host and port of the connect options`() throws {
        let options = ConnectOptions(
            host: "broker.example", port: 8080, clientId: "c", username: "", password: "", webSocket: WebSocketOptions()
        )
        let plan = try plan(options, endpoint: .descriptors(reading: 3, writing: 4))
        #expect(plan.channel.webSocket?.host == "broker.example:8080")
    }

    @Test(arguments: [
        WebSocketOptions(path: "mqtt?secret"), WebSocketOptions(headers: ["Host": "secret"]),
        WebSocketOptions(headers: ["A": "secret\r\n"]),
    ])
    func `invalid WebSocket options throw an error without secrets`(_ webSocket: WebSocketOptions) {
        let options = ConnectOptions(
            host: "a", port: 80, clientId: "c", username: "", password: "", scheme: "ws", webSocket: webSocket)
        let error = expectCourierError(.invalidConfiguration, "WebSocket") { try plan(options) }
        #expect(error?.description.contains("secret") == false)
    }

    @Test func `an error about an invalid WebSocket host hides the credentials before the @ of the host`() {
        let options = ConnectOptions(
            host: "mqtt://ada:hunter2@b", port: 80, clientId: "c", username: "", password: "",
            webSocket: WebSocketOptions())
        let error = expectCourierError(.invalidConfiguration, "<hidden>@b") {
            try plan(options, endpoint: .descriptors(reading: 3, writing: 4))
        }
        #expect(error?.description.contains("hunter2") == false)
    }

    @Test func `with the scheme unix, the host is the path of the socket and the port is not needed`() throws {
        let plan = try plan(options(host: "/run/broker.sock", port: 0, scheme: "unix"))
        #expect(plan.name == "unix:/run/broker.sock")
        guard case .unix("/run/broker.sock") = plan.endpoint else { return #expect(Bool(false), "\(plan.endpoint)") }
        #expect(plan.tls == nil)
    }

    @Test func `the app's own stream needs no host, and uses TLS only if there are TLS settings`() throws {
        let endpoint = TransportEndpoint.descriptors(reading: 3, writing: 4)
        let bare = options(host: "", port: 0, scheme: "serial")
        #expect(try plan(bare, endpoint: endpoint).name == "descriptors 3 and 4")
        #expect(try plan(bare, endpoint: endpoint).tls == nil)
        let secure = try plan(bare, endpoint: endpoint) {
            $0.tls = TLSClientConfiguration()
            $0.tls?.serverName = "broker.example"
        }
        #expect(secure.tls?.serverName == "broker.example")
        expectCourierError(.invalidConfiguration, "serverName") {
            try plan(bare, endpoint: endpoint) { $0.tls = TLSClientConfiguration() }
        }
    }

    @Test func `an IPv6 host in brackets connects to the address without brackets`() throws {
        let plan = try plan(options(host: "[::1]"))
        #expect(plan.name == "mqtt://[::1]:1883")
        guard case .tcp("::1", 1883) = plan.endpoint else { return #expect(Bool(false), "\(plan.endpoint)") }
    }

    // MARK: Mistakes

    struct Mistake: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let options: ConnectOptions
        var version = ProtocolVersionPolicy.preferVersion5
        var hasTLSSettings = false
    }

    private static let tooLong = String(repeating: "x", count: 65_536)

    private static func refused(
        _ part: String, host: String = "a", port: UInt16 = 1883, clientId: String = "c", username: String = "",
        password: String = "", isCleanSession: Bool = false, userProperties: [String: String]? = nil,
        alpn: [String]? = nil, scheme: String? = nil, _ version: ProtocolVersionPolicy = .preferVersion5,
        tls: Bool = false
    ) -> Mistake {
        Mistake(
            testDescription: part,
            options: ConnectOptions(
                host: host, port: port, clientId: clientId, username: username, password: password,
                isCleanSession: isCleanSession, userProperties: userProperties, alpn: alpn, scheme: scheme),
            version: version, hasTLSSettings: tls)
    }

    @Test(arguments: [
        refused("host", host: ""), refused("scheme", host: "mqtt://a"), refused("port", port: 0),
        refused("port", port: 0, scheme: "tls"), refused("\"http\"", scheme: "http"), refused("\"\"", scheme: ""),
        refused("tcp, mqtt, tls, ssl, mqtts, ws, wss, unix", scheme: "mqtt://"),
        refused("port", port: 0, scheme: "wss"), refused("use \"wss\"", scheme: "ws", tls: true),
        refused("ALPN", alpn: ["a"], scheme: "ws"),
        refused("without TLS", scheme: "tcp", tls: true), refused("ALPN", alpn: ["a"], scheme: "tcp"),
        refused("ALPN", alpn: ["a"], scheme: "unix"), refused("ALPN", alpn: [""], scheme: "tls"),
        refused("256 bytes", alpn: [String(repeating: "x", count: 256)]),
        refused("17 application protocols", alpn: Array(repeating: "a", count: 17)),
        refused("path", host: "", scheme: "unix"), refused("path", host: "a\u{0}", scheme: "unix"),
        refused("107", host: String(repeating: "x", count: 108), scheme: "unix"),
        refused("serverName", host: "/a", scheme: "unix", tls: true),
        refused("client id is empty", clientId: ""), refused("client id is empty", clientId: "", .version5),
        refused("client id is empty", clientId: "", .version311), refused("client id", clientId: "a\u{0}"),
        refused("client id", clientId: "%u"), refused("user name", username: tooLong),
        refused("user name", username: "a\u{0}"), refused("password has 65536", username: "a", password: tooLong),
        refused("MQTT-3.1.2-22", password: "secret", .version311),
        refused("user property \"a\"", userProperties: ["a": "\u{0}"]),
        refused("name of the user property", userProperties: ["a\u{0}": "secret"]),
        refused("user property \"a\"", userProperties: ["a": tooLong]),
        refused(
            "257 user properties",
            userProperties: Dictionary(uniqueKeysWithValues: (0..<257).map { ("\($0)", "secret") })),
    ])
    func `each mistake in the connect options is named in an error without secrets`(_ mistake: Mistake) {
        let error = expectCourierError(.invalidConfiguration, mistake.testDescription) {
            try plan(mistake.options) { settings in
                settings.version = mistake.version
                if mistake.hasTLSSettings { settings.tls = TLSClientConfiguration() }
            }
        }
        #expect(error?.description.contains("secret") == false)
    }

    // MARK: CONNECT

    /// Checks that the codec can encode the packet.
    private func encoded(_ plan: ConnectPlan, as version: ProtocolVersion) throws {
        var connect = plan.engine.connect
        connect.version = version
        if version < .v5 {
            connect.properties = []
            connect.will?.properties = []
        }
        var buffer = PacketBuffer()
        try PacketEncoder(version: version, sender: .client).encode(.connect(connect), into: &buffer)
    }

    @Test func `CONNECT contains the values of the options and settings`() throws {
        let plan = try plan(
            options(username: "ada", password: "pw", userProperties: ["b": "2", "a": "1"])
        ) { settings in
            settings.will = WillMessage(
                topic: "gone", text: "bye", qos: .oneWithoutPersistenceAndRetry, isRetained: true,
                delay: .milliseconds(1_500),
                properties: MessageProperties(contentType: "text/plain", messageExpiry: .seconds(9)))
            settings.limits.sessionExpiry = .seconds(60)
        }
        #expect(
            plan.engine.connect
                == Connect(
                    version: .v5, clientID: "phone-7", isCleanStart: false, keepAlive: 45, username: "ada",
                    password: SecretBytes("pw"),
                    will: Connect.Will(
                        topic: "gone", payload: Array("bye".utf8), qos: .atLeastOnce, isRetained: true,
                        properties: [.contentType("text/plain"), .willDelayInterval(2), .messageExpiryInterval(9)]),
                    properties: [
                        .sessionExpiryInterval(60), .userProperty(name: "a", value: "1"),
                        .userProperty(name: "b", value: "2"),
                    ]))
        #expect(plan.engine.fallsBackToVersion311)
        try encoded(plan, as: .v5)
        try encoded(plan, as: .v311)
    }

    /// A setting that becomes a limit of the engine with another name.
    struct Limit: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let set: @Sendable (inout ConnectionSettings) -> Void
        let expect: @Sendable (inout EngineConfiguration) -> Void

        init<Value: Sendable>(
            _ setting: any WritableKeyPath<ConnectionLimits, Value> & Sendable,
            to value: Value, as limit: any WritableKeyPath<EngineConfiguration, Value> & Sendable
        ) {
            testDescription = "\(limit)"
            set = { $0.limits[keyPath: setting] = value }
            expect = { $0[keyPath: limit] = value }
        }
    }

    @Test(arguments: [
        Limit(\.connAckTimeout, to: .seconds(4), as: \.connectTimeout),
        Limit(\.pingTimeout, to: .seconds(5), as: \.pingTimeout),
        Limit(\.acknowledgementTimeout, to: nil, as: \.acknowledgementTimeout),
        Limit(\.receiveMaximum, to: 20, as: \.receiveMaximum),
        Limit(\.maximumPacketSize, to: 1_000, as: \.maximumPacketSize),
        Limit(\.maximumInFlight, to: 30, as: \.maximumInFlight),
        Limit(\.maximumInFlightBeforeVersion5, to: 10, as: \.maximumInFlightBeforeVersion5),
        Limit(\.incomingTopicAliases, to: 1, as: \.incomingTopicAliases),
        Limit(\.outgoingTopicAliases, to: 2, as: \.outgoingTopicAliases),
        Limit(\.sessionLossPolicy, to: .fail, as: \.sessionLossPolicy),
        Limit(\.acknowledgements, to: .onCommand, as: \.acknowledgements),
    ])
    func `each limit is passed to the engine configuration and changes no other value there`(_ limit: Limit) throws {
        let usual = try plan(options()).engine
        var expected = usual
        limit.expect(&expected)
        #expect(expected != usual, "the test says nothing")
        #expect(try plan(options(), limit.set).engine == expected)
    }

    @Test func `connectTimeout is passed to the channel options`() throws {
        #expect(try plan(options()) { $0.limits.connectTimeout = .seconds(3) }.channel.connectTimeout == .seconds(3))
    }

    @Test func `CONNECT of MQTT 5 requests a session expiry unless the session is clean`() throws {
        #expect(try plan(options()).engine.connect.properties.sessionExpiryInterval == 604_800)
        #expect(try plan(options(isCleanSession: true)).engine.connect.properties.isEmpty)
        #expect(try plan(options()) { $0.limits.sessionExpiry = .zero }.engine.connect.properties.isEmpty)
    }

    @Test func `CONNECT of MQTT 3 has no properties`() throws {
        let plan = try plan(options(userProperties: ["a": "\u{0}"])) {
            $0.version = .version311
            $0.will = WillMessage(topic: "a", text: "b", delay: .seconds(1))
        }
        #expect(plan.engine.connect.version == .v311)
        #expect(!plan.engine.fallsBackToVersion311)
        try encoded(plan, as: .v311)
        #expect(plan.engine.connect.properties.isEmpty)
        #expect(plan.engine.connect.will?.properties.isEmpty == true)
    }

    @Test func `a user name alone works with each MQTT version, a password alone only with MQTT 5`() throws {
        let nobody = try plan(options())
        #expect(nobody.engine.connect.username == nil && nobody.engine.connect.password == nil)
        // A user name without a password is allowed everywhere.
        for version in [ProtocolVersionPolicy.preferVersion5, .version5, .version311] {
            let plan = try plan(options(username: "ada")) { $0.version = version }
            #expect(plan.engine.connect.username == "ada" && plan.engine.connect.password == nil)
            try encoded(plan, as: .v311)
        }
        // A password alone is not, so there is nothing to fall back to.
        let token = try plan(options(password: "token"))
        #expect(!token.engine.fallsBackToVersion311)
        try encoded(token, as: .v5)
        #expect(try !plan(options()) { $0.version = .version5 }.engine.fallsBackToVersion311)
    }

    @Test func `the channel's limit for unconsumed bytes is at least the maximum packet size`() throws {
        let plan = try plan(options()) {
            $0.limits.maximumPacketSize = 100_000
            $0.limits.channel.remainderLimit = 1
        }
        #expect(plan.channel.remainderLimit >= 100_000)
    }

    @Test func `no description of a connect plan contains the password`() throws {
        let plan = try plan(options(username: "ada", password: "swordfish", userProperties: ["token": "sesame"]))
        var dumped = ""
        dump(plan.engine.connect.password, to: &dumped)
        dump(plan.options, to: &dumped)
        #expect(!dumped.contains("swordfish") && !dumped.contains("sesame") && !plan.name.contains("ada"))
    }
}
