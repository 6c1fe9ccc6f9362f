import CourierCore
import CourierTransport
import Foundation
import TestSupport
import Testing

@testable import CourierMQTT

/// Fixed options are a part of the configuration, so that mistakes in them are mistakes of the configuration.
@Suite(.timeLimit(.minutes(5))) struct FixedOptionsTests {
    private static func config(
        host: String = "broker.example", port: UInt16 = 1_883, id: String = "phone-7", scheme: String? = nil,
        alternatives: [BrokerEndpoint] = [], _ change: (inout MQTTClientConfig) -> Void = { _ in }
    ) -> MQTTClientConfig {
        var config = MQTTClientConfig(
            options: ConnectOptions(
                host: host, port: port, clientId: id, username: "", password: "", scheme: scheme,
                alternatives: alternatives))
        config.deliveryQueue = DispatchQueue(label: "test.delivery")
        change(&config)
        return config
    }

    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let config: @Sendable () -> MQTTClientConfig
        /// A part of the error message; empty if there is no mistake.
        var words = ""
    }

    static let mistakes = [
        Case(testDescription: "an unknown scheme", config: { config(scheme: "mqqt") }, words: "\"mqqt\" is not known"),
        Case(
            testDescription: "a scheme without TLS",
            config: { config(scheme: "tcp") { $0.tls = TLSClientConfiguration() } }, words: "without TLS"),
        Case(testDescription: "a URL", config: { config(host: "mqtt://broker.example") }, words: "is a URL"),
        Case(testDescription: "no host", config: { config(host: "") }, words: "is empty"),
        Case(testDescription: "no port", config: { config(port: 0) }, words: "is 0"),
        Case(
            testDescription: "a session of nobody [MQTT-3.1.3-7]", config: { config(id: "") },
            words: "client id is empty"),
        Case(
            testDescription: "a session of nobody over a stream of the app's own",
            config: { config(id: "") { $0.endpoint = { _ in .unix(path: "/run/s") } } }, words: "client id is empty"),
        Case(
            testDescription: "a mistake in every endpoint",
            config: { config(scheme: "mqqt", alternatives: [BrokerEndpoint(host: "b.example", port: 1_883)]) },
            words: "\"mqqt\" is not known"),
    ]

    @Test(arguments: mistakes)
    func `a mistake in fixed options makes validate() and every call of the client throw an error`(
        _ mistake: Case
    ) async {
        let config = mistake.config()
        let factory = CourierClientFactory()
        expectCourierError(.invalidConfiguration, mistake.words) { try factory.validate(config) }
        let client = factory.makeMQTTClient(config: config)
        client.connect()
        await Self.expect(mistake, of: "connected") { try await client.connected() }
        await Self.expect(mistake, of: "publish") { try await client.publish("x", to: "t") }
        await Self.expect(mistake, of: "subscribe") { try await client.subscribe(to: "t") }
        await Self.expect(mistake, of: "request") {
            _ = try await client.request("x", to: "t", timeout: .seconds(1), as: String.self)
        }
        await Self.expect(mistake, of: "respond") {
            try await client.respond(to: "t") { (question: String) in question }
        }
        let mine = Topic<String>("%c")
        await Self.expect(mistake, of: "request on a Topic") {
            _ = try await client.request("x", to: mine, as: String.self)
        }
        await Self.expect(mistake, of: "respond on a Topic") { try await client.respond(to: mine) { $0 } }
        await Self.expect(mistake, of: "a loop") {
            for try await _ in client.messages(String.self, from: "t") {}
        }
    }

    private static func expect(_ mistake: Case, of name: String, _ call: () async throws -> Void) async {
        do {
            try await call()
            Issue.record("\(name) did not throw")
        } catch {
            #expect((error as? CourierError)?.message.contains(mistake.words) == true, "\(name): \(error)")
        }
    }

    static let usable = [
        Case(testDescription: "a template", config: { config(id: "app-%%%%") }),
        Case(testDescription: "a Unix socket", config: { config(host: "/run/s", port: 0, scheme: "unix") }),
        Case(
            testDescription: "an endpoint that stands in for one with a mistake",
            config: {
                config(scheme: "mqqt", alternatives: [BrokerEndpoint(host: "b.example", port: 1_883, scheme: "tcp")])
            }),
        Case(
            testDescription: "a port that service records have",
            config: { config(port: 0) { $0.endpoints.usesServiceRecords = true } }),
    ]

    @Test(arguments: usable)
    func `usable fixed options are accepted by validate() and makeMQTTClient()`(_ usable: Case) throws {
        let config = usable.config()
        try CourierClientFactory().validate(config)
        #expect(!(CourierClientFactory().makeMQTTClient(config: config) is MisconfiguredClient))
    }

    @Test func `with the app's own stream, validate() ignores host, port and scheme and opens no stream`() throws {
        let isAsked = Box<Bool>()
        let config = Self.config(host: "", port: 0, scheme: "serial") {
            $0.endpoint = { _ in
                isAsked.value = true
                return .unix(path: "/run/s")
            }
        }
        try CourierClientFactory().validate(config)
        #expect(!(CourierClientFactory().makeMQTTClient(config: config) is MisconfiguredClient))
        #expect(isAsked.value == nil)
    }

    @Test func `validate() does not call the provider`() throws {
        let provider = ScriptedProvider(
            ConnectOptions(host: "", port: 0, clientId: "", username: "", password: "", scheme: "mqqt"))
        try CourierClientFactory().validate(MQTTClientConfig(authService: provider))
        #expect(provider.asked.isEmpty)
    }

    // MARK: Files

    private static func tls(_ change: (inout TLSClientConfiguration) -> Void) -> MQTTClientConfig {
        config(scheme: "tls") { config in
            var tls = TLSClientConfiguration()
            change(&tls)
            config.tls = tls
        }
    }

    @Test func `validate() reads the certificate files and names an invalid file`() async throws {
        let factory = CourierClientFactory()
        let certificates = try await Certificates.shared
        try factory.validate(
            Self.tls {
                $0.trust = .authoritiesFile(certificates.authorityFile)
                $0.identity = certificates.identity("client")
            })
        let garbage = certificates.folder.file("client.csr")  // PEM, and no certificate.
        expectCourierError(.invalidConfiguration, garbage) {
            try factory.validate(Self.tls { $0.trust = .authoritiesFile(garbage) })
        }
        expectCourierError(.invalidConfiguration, "/nowhere/key.pem") {
            try factory.validate(
                Self.tls {
                    $0.identity = TLSIdentity(
                        certificateFile: certificates.server.certificateFile, privateKeyFile: "/nowhere/key.pem")
                })
        }
        expectCourierError(.invalidConfiguration, "pass phrase") {
            try factory.validate(Self.tls { $0.identity = certificates.identity("locked", passPhrase: "wrong") })
        }
    }

    @Test func `validate() writes no TLS key log and does not call the TLS material closure`() throws {
        let folder = try TemporaryFolder()
        let isAsked = Box<Bool>()
        try CourierClientFactory().validate(
            Self.tls {
                $0.keyLogFile = folder.file("keys")
                $0.material = {
                    isAsked.value = true
                    return TLSMaterial()
                }
            })
        #expect(isAsked.value == nil && !FileManager.default.fileExists(atPath: folder.file("keys")))
    }
}
