import CourierCore
import CourierTransport
import Foundation
import TestSupport
import Testing

@testable import CourierMQTT

/// A client that reaches a real mosquitto through a real tinyproxy or microsocks.
@Suite(.timeLimit(.minutes(10)))
struct ClientProxyTests {
    private func client(
        _ proxy: ProxySetting, port: UInt16, isSecure: Bool = false,
        _ change: (inout MQTTClientConfig) -> Void = { _ in }
    ) async throws -> TestClient {
        let options = ConnectOptions(
            host: "localhost", port: port, clientId: "proxied-%%%%%%%%", username: "", password: "",
            isCleanSession: false, scheme: isSecure ? "mqtts" : "mqtt")
        let certificates = try await Certificates.shared
        return try TestClient(options) { config in
            if isSecure { config.tls = certificates.client }
            config.proxy = proxy
            change(&config)
        }
    }

    /// If the proxy is killed, the client must lose its connection. This proves that the client uses the proxy.
    @Test(arguments: ProxyCase.all)
    func `a client publishes and reads through a proxy, and reconnects when the proxy returns`(
        _ proxyCase: ProxyCase
    ) async throws {
        let proxy = try await proxyCase.startProxy()
        let broker = try await proxyCase.startBroker(try await Certificates.shared)
        let test = try await client(
            .proxy(proxy.configuration), port: broker.port, isSecure: proxyCase.isSecure)
        try await test.connect()
        let client = test.client
        let reading = Task {
            var texts: [String] = []
            for try await text in client.messages(String.self, from: "proxied", qos: .one) {
                // If the killed proxy has lost an acknowledgement, the message arrives again.
                if !texts.contains(text) { texts.append(text) }
                if text == "three" { break }
            }
            return texts
        }
        try await test.wait(for: "subscribeSuccess")
        let long = String(repeating: "0123456789", count: 50_000)
        for text in ["one", long] {
            #expect(try await client.publish(text, to: "proxied", qos: .one).reasonCode == .success)
        }
        await proxy.kill()
        try await test.wait(for: "connectionLost")
        try await test.wait(for: "connectionFailure")
        for case .connectionFailure(_, let error as CourierError) in test.events {
            #expect(error.code == .connectionFailed)
            #expect(error.message.contains("no connection to the proxy \(proxy.configuration)"), "\(error)")
        }
        try await proxy.start()
        try await test.wait(for: "connectionSuccess", count: 2)
        #expect(try await client.publish("three", to: "proxied", qos: .one).reasonCode == .success)
        #expect(try await reading.value == ["one", long, "three"])
        try await test.end()
        await broker.remove()
        await proxy.kill()
    }

    @Test func `the proxy from ALL_PROXY is used, and hosts in NO_PROXY are reached directly`() async throws {
        let proxy = try await RealProxy(.socks5h, user: "user", password: "hunter2")
        let broker = try await RealBroker()
        let url = "socks5h://user:hunter2@127.0.0.1:\(proxy.port)"
        let through = try await client(.variables(["ALL_PROXY": url]), port: broker.port)
        try await through.connect()
        let around = try await client(.variables(["ALL_PROXY": url, "NO_PROXY": "localhost"]), port: broker.port)
        try await around.connect()
        await proxy.kill()
        try await through.wait(for: "connectionLost")
        #expect(!around.eventNames.contains("connectionLost"))
        try await around.client.publish("still there", to: "t", qos: .one)
        try await around.end()
        try await through.end()
        await broker.remove()
    }

    @Test(arguments: ProxyConfiguration.Kind.allCases)
    func `with a wrong proxy password, the attempt fails, and events contain no user name or password`(
        kind: ProxyConfiguration.Kind
    ) async throws {
        let proxy = try await RealProxy(kind, user: "gemma", password: "right")
        let wrong = try ProxyConfiguration(
            kind, host: "127.0.0.1", port: proxy.port,
            credentials: ProxyCredentials(user: "gemma", password: "hunter2"))
        let test = try await client(.proxy(wrong), port: 1)
        test.client.connect()
        try await test.wait(for: "connectionFailure", count: 2)
        for case .connectionFailure(_, let error) in test.events {
            let failure = try #require(error as? CourierError)
            #expect(failure.code == .connectionFailed)
            #expect((failure.cause as? TransportError)?.code == .proxyAuthenticationFailed)
            #expect(failure.message.contains("the proxy \(kind.rawValue)://127.0.0.1:\(proxy.port)"), "\(failure)")
        }
        // Each later attempt begins after a pause, which the event before it reports.
        let attempts = test.eventNames.filter { ["connectionAttempt", "connectionFailure", "reconnect"].contains($0) }
        #expect(
            attempts.prefix(5) == [
                "connectionAttempt", "connectionFailure", "reconnect", "connectionAttempt", "connectionFailure",
            ])
        for event in test.events {
            #expect(!"\(event)".contains("hunter2") && !"\(event)".contains("gemma"), "\(event)")
        }
        try await test.end()
        await proxy.kill()
    }

    @Test func `after any proxy error, the client tries again after the reconnect pause`() {
        for code in [TransportError.Code.proxyFailed, .proxyRefused, .proxyAuthenticationFailed] {
            #expect(LossPolicy.row(for: .transport(LossCause.TransportProblem(code))).response == .retry)
            #expect(CourierError(TransportError(code, "…")).code == .connectionFailed)
        }
    }

    @Test func `an invalid proxy URL in all_proxy stops the client, and the error names the variable`() async throws {
        let test = try await client(.variables(["all_proxy": "ftp://u:hunter2@h:1"]), port: 1)
        test.client.connect()
        do {
            try await test.client.connected()
            Issue.record("connected")
        } catch let error as CourierError {
            #expect(error.code == .invalidConfiguration)
            #expect(error.message.contains("the variable all_proxy: the proxy's URL has a scheme that is not known"))
            #expect(!error.message.contains("hunter2"))
        }
        try await test.end()
    }

    @Test func `a custom endpoint of the app does not use the proxy`() async throws {
        let folder = try TemporaryFolder()
        let broker = try await RealBroker(socketPath: folder.file("broker.sock"))
        let test = try await client(.proxy(try ProxyConfiguration(url: "http://127.0.0.1:1")), port: 1) {
            $0.endpoint = { _ in .unix(path: folder.file("broker.sock")) }
        }
        try await test.connect()
        try await test.end()
        await broker.remove()
    }

    @Test func `printing a configuration with a proxy shows no proxy user name or password`() throws {
        var config = MQTTClientConfig(options: .local(1))
        config.proxy = .proxy(try ProxyConfiguration(url: "http://gemma:hunter2@proxy.example:1"))
        var text = "\(config)"
        dump(config, to: &text)
        #expect(text.contains("http://proxy.example:1"))
        #expect(!text.contains("hunter2") && !text.contains("gemma"))
    }
}
