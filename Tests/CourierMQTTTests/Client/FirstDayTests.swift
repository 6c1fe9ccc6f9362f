import CourierCore
import CourierTesting
import CourierTransport
import Foundation
import TestSupport
import Testing

@testable import CourierMQTT

/// The error of `connected()`, or the warning in the log, that a new user sees after a typical mistake.
/// docs/guides/troubleshooting.md lists these mistakes and a few more.
@Suite(.timeLimit(.minutes(1))) struct FirstDayTests {
    private let log = AwaitedLog()

    private func options(_ port: UInt16, scheme: String? = nil, password: String = "") -> ConnectOptions {
        ConnectOptions(
            host: "localhost", port: port, clientId: "new-%%%%%%", username: password.isEmpty ? "" : "ada",
            password: password, scheme: scheme)
    }

    private func client(
        _ options: ConnectOptions, _ change: (inout MQTTClientConfig) -> Void = { _ in }
    ) throws -> any CourierClient {
        var config = MQTTClientConfig(options: options)
        config.deliveryQueue = DispatchQueue(label: "first-day")
        config.logHandler = log
        change(&config)
        return CourierClientFactory().makeMQTTClient(config: config)
    }

    /// Expects that `connected()` soon throws an error with all these words.
    private func expectError(
        _ code: CourierError.Code, _ words: [String], from client: any CourierClient,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async {
        client.connect()
        let error = await #expect(throws: CourierError.self, sourceLocation: sourceLocation) {
            try await client.connected(timeout: .seconds(60))
        }
        #expect(error?.code == code, sourceLocation: sourceLocation)
        for word in words {
            #expect(error?.message.contains(word) == true, "\(error?.message ?? "")", sourceLocation: sourceLocation)
        }
        await client.disconnectAndWait()
    }

    /// Expects a warning with all these words in the log, while `connected()` still waits.
    private func expectWarning(
        _ words: [String], from client: any CourierClient, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        client.connect()
        let waiting = Task { try await client.connected() }
        let warning = try #require(await log.warning(with: words[0]))
        for word in words { #expect(warning.contains(word), "\(warning)", sourceLocation: sourceLocation) }
        #expect(client.connectionState != .connected)
        waiting.cancel()
        await #expect(throws: CancellationError.self, sourceLocation: sourceLocation) { try await waiting.value }
        await client.disconnectAndWait()
    }

    // MARK: Errors of connected()

    @Test func `connected() throws notAuthorized if the password is wrong`() async throws {
        let folder = try TemporaryFolder()
        let passwords = folder.file("passwords")
        try "".write(toFile: passwords, atomically: true, encoding: .utf8)
        try ChildProcess.run(["mosquitto_passwd", "-b", passwords, "ada", "right"])
        let broker = try await RealBroker(settings: "allow_anonymous false\npassword_file \(passwords)")
        await expectError(
            .notAuthorized, ["localhost:\(broker.port)", "refused the connection", "user name and the password"],
            from: try client(options(broker.port, password: "wrong")))
        await expectError(
            .notAuthorized, ["refused the connection"],
            from: try client(options(broker.port, password: "wrong")) { $0.protocolVersion = .version311 })
        await broker.stop()
    }

    @Test func `connected() throws connectionFailed and names the host if the host does not exist`() async throws {
        let options = ConnectOptions(host: "nobody.invalid", port: 1883, clientId: "new", username: "", password: "")
        await expectError(
            .connectionFailed, ["“nobody.invalid” does not exist", "correct its spelling"], from: try client(options))
    }

    @Test(arguments: [
        ("stranger", "not signed by a trusted authority"), ("expired", "has expired"),
        ("elsewhere", "is not for “localhost”"),
    ])
    func `connected() throws secureConnectionFailed if the server certificate is not accepted`(
        _ identity: String, _ words: String
    ) async throws {
        try await WireBroker.with(WireCase(peer: .mosquitto, wire: .tls), identity: identity) { broker in
            await expectError(
                .secureConnectionFailed, ["localhost:\(broker.port)", words],
                from: try client(options(broker.port, scheme: "mqtts")) { $0.tls = broker.clientTLS })
        }
    }

    @Test func `connected() throws invalidConfiguration if the authorities file is missing or has no certificate`()
        async throws
    {
        let folder = try TemporaryFolder()
        try "no certificate".write(toFile: folder.file("garbage.pem"), atomically: true, encoding: .utf8)
        for (name, words) in [("missing.pem", "No such file"), ("garbage.pem", "certificate")] {
            var tls = TLSClientConfiguration()
            tls.trust = .authoritiesFile(folder.file(name))
            await expectError(
                .invalidConfiguration, [folder.file(name), words],
                from: try client(options(8_883, scheme: "tls")) { $0.tls = tls })
        }
    }

    @Test func `connected() throws invalidConfiguration if the scheme, the port or a topic filter is invalid`()
        async throws
    {
        await expectError(
            .invalidConfiguration, ["\"mqqt\""], from: try client(options(1_883, scheme: "mqqt")))
        await expectError(.invalidConfiguration, ["port"], from: try client(options(0)))
        await expectError(
            .invalidConfiguration, ["#/chat"], from: try client(options(1_883)) { $0.topics = ["#/chat": .one] })
    }

    @Test func `connected() and publish() throw sessionMissing if connect() was not called`() async throws {
        let client = try client(options(1_883))
        let error = await #expect(throws: CourierError.self) { try await client.connected() }
        #expect(error?.code == .sessionMissing && error?.message.contains("connect()") == true)
        let publish = await #expect(throws: CourierError.self) { try await client.publish("x", to: "t") }
        #expect(publish?.code == .sessionMissing && publish?.message.contains("connect()") == true)
    }

    @Test func `the log contains a warning if two clients use the same client id`() async throws {
        let broker = try await RealBroker()
        var one = options(broker.port)
        one = ConnectOptions(host: one.host, port: one.port, clientId: "same", username: "", password: "")
        let first = try client(one) { $0.autoReconnectInterval = 1 }
        first.connect()
        try await first.connected()
        let second = try client(one) { $0.autoReconnectInterval = 1 }
        second.connect()
        try await second.connected()
        // This mosquitto does not send reason code 0x8E (Session taken over), so the warning only names a probable
        // cause.
        let warning = try #require(await log.warning(with: "another client uses the client id \"same\""))
        #expect(warning.contains("Give each client its own id"), "\(warning)")
        await first.disconnectAndWait()
        await second.disconnectAndWait()
        await broker.stop()
    }

    // MARK: Warnings, while the client keeps trying

    @Test func `the log contains a warning if no server listens on the port`() async throws {
        let port = try LocalPort.free()
        try await expectWarning(
            ["connection refused: 127.0.0.1:\(port)", "is the server running there?"], from: try client(options(port)))
    }

    @Test func `the log contains a warning if the client uses TLS on a port without TLS`() async throws {
        let broker = try await RealBroker()
        try await expectWarning(
            ["TLS handshake", "localhost:\(broker.port)", "does this port speak TLS?"],
            from: try client(options(broker.port, scheme: "tls")))
        await broker.stop()
    }

    @Test func `the log contains a warning if the client uses plain TCP on a TLS port`() async throws {
        try await WireBroker.with(WireCase(peer: .mosquitto, wire: .tls)) { broker in
            try await expectWarning(
                ["localhost:\(broker.port)", "the scheme \"mqtts\""],
                from: try client(options(broker.port, scheme: "mqtt")))
        }
    }

    // MARK: Messages

    @Test func `publish() throws if the topic has a wildcard or no adapter can encode the type`() async throws {
        struct Opaque: Sendable {}
        let client = try client(options(1_883))
        client.connect()
        let topic = await #expect(throws: CourierError.self) { try await client.publish("x", to: "chat/#") }
        #expect(topic?.code == .invalidTopicName && topic?.message.contains("chat/#") == true)
        let type = await #expect(throws: CourierError.self) { try await client.publish(Opaque(), to: "chat") }
        #expect(type?.code == .encodingFailed && type?.message.contains("Opaque") == true)
        await client.disconnectAndWait()
    }

    @Test func `the log contains a warning if a message cannot be decoded as the reader's type`() async throws {
        struct Note: Codable, Sendable { let title: String }
        let broker = try await RealBroker()
        let client = try client(options(broker.port))
        client.connect()
        try await client.connected(timeout: .seconds(60))
        let reading = Task { for try await _ in client.messages(Note.self, from: "chat/+") {} }
        try await client.subscribe(to: "chat/+")
        try await client.publish("no JSON", to: "chat/7")
        let warning = try #require(await log.warning(with: "chat/7"))
        #expect(warning.contains("Note"), "\(warning)")
        reading.cancel()
        try? await reading.value
        await client.disconnectAndWait()
        await broker.stop()
    }
}
