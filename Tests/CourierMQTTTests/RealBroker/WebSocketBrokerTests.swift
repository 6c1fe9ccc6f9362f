import CourierCore
import CourierTransport
import Foundation
import TestSupport
import Testing

@testable import CourierMQTT

/// Clients that connect to mosquitto's WebSocket listener.
@Suite(.timeLimit(.minutes(10)))
struct WebSocketBrokerTests {
    enum Scheme: String, CaseIterable, Sendable { case ws, wss }

    /// Mosquitto 2.0 does not start with listeners for WebSocket alone, so it gets a Unix socket in `folder` too.
    private func broker(_ scheme: Scheme, _ folder: TemporaryFolder) async throws -> RealBroker {
        var settings = "protocol websockets"
        if scheme == .wss {
            let certificates = try await Certificates.shared
            settings += """

                cafile \(certificates.authorityFile)
                certfile \(certificates.server.certificateFile)
                keyfile \(certificates.server.privateKeyFile)
                """
        }
        return try await RealBroker(settings: settings, socketPath: folder.file("other.sock"))
    }

    private func withBroker(_ scheme: Scheme, _ body: (RealBroker) async throws -> Void) async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let broker = try await broker(scheme, folder)
        do {
            try await body(broker)
            await broker.remove()
        } catch {
            await broker.remove()
            throw error
        }
    }

    private func client(
        _ scheme: Scheme, _ broker: RealBroker, version: ProtocolVersionPolicy = .preferVersion5
    ) async throws -> TestClient {
        let certificates = try await Certificates.shared
        let options = ConnectOptions(
            host: "localhost", port: broker.port, clientId: "socket-%%%%%%%%", username: "", password: "",
            scheme: scheme.rawValue, webSocket: WebSocketOptions(path: "/mqtt?a=b", headers: ["X-Token": "secret"]))
        return try TestClient(options) { config in
            config.protocolVersion = version
            if scheme == .wss { config.tls = certificates.client }
        }
    }

    @Test(arguments: Scheme.allCases, [ProtocolVersionPolicy.preferVersion5, .version311])
    func `a WebSocket client publishes and receives messages at every QoS`(
        _ scheme: Scheme, _ version: ProtocolVersionPolicy
    ) async throws {
        try await withBroker(scheme) { broker in
            let test = try await client(scheme, broker, version: version)
            try await test.connect()
            let client = test.client
            let reading = Task {
                var texts: [String] = []
                for try await text in client.messages(String.self, from: "sockets/+", qos: .two) {
                    texts.append(text)
                    if texts.count == 3 { break }
                }
                return texts
            }
            try await test.wait(for: "subscribeSuccess")
            let long = String(repeating: "0123456789", count: 100_000)
            for (text, qos) in [("zero", QoS.zero), ("one", .one), (long, .two)] {
                try await client.publish(text, to: "sockets/a", qos: qos)
            }
            let texts = try await reading.value
            #expect(texts == ["zero", "one", long])
            try await test.end()
        }
    }

    @Test(arguments: Scheme.allCases)
    func `1000 messages over WebSocket arrive in order`(_ scheme: Scheme) async throws {
        try await withBroker(scheme) { broker in
            let test = try await client(scheme, broker)
            try await test.connect()
            let client = test.client
            let reading = Task {
                var numbers: [Int] = []
                for try await text in client.messages(String.self, from: "numbers", qos: .one) {
                    if let number = Int(text) { numbers.append(number) }
                    if numbers.count == 1_000 { break }
                }
                return numbers
            }
            try await test.wait(for: "subscribeSuccess")
            for number in 0..<1_000 { try await client.publish("\(number)", to: "numbers", qos: .one) }
            let numbers = try await reading.value
            #expect(numbers == Array(0..<1_000))
            try await test.end()
        }
    }

    @Test(arguments: Scheme.allCases)
    func `a WebSocket client reconnects after a broker restart`(_ scheme: Scheme) async throws {
        try await withBroker(scheme) { broker in
            let test = try await client(scheme, broker)
            try await test.connect()
            await broker.kill()
            try await test.wait(for: "connectionLost")
            try await broker.start()
            try await test.client.connected()
            try await test.client.publish("back", to: "sockets/b", qos: .one)
            try await test.end()
        }
    }

    /// The error of the first attempt, taken from its event.
    private func failure(of test: TestClient) async throws -> CourierError {
        @Sendable func error(_ events: [CourierEventType]) -> CourierError? {
            for case .connectionFailure(_, let error as CourierError) in events { return error }
            return nil
        }
        test.client.connect()
        defer { test.client.disconnect() }
        try await test.wait("for an attempt to fail") { error($0) != nil }
        return try #require(error(test.events))
    }

    @Test func `a WebSocket connect to a plain MQTT port fails, and the error names the address`() async throws {
        let broker = try await RealBroker()
        let error = try await failure(of: client(.ws, broker))
        await broker.remove()
        #expect(error.code == .connectionFailed || error.code == .connectionLost)
        #expect(error.message.contains("localhost:\(broker.port)"), "\(error)")
        #expect(!error.description.contains("secret"))
    }

    @Test func `a wss connect to a ws port fails, and the error names the address`() async throws {
        try await withBroker(.ws) { broker in
            let error = try await failure(of: client(.wss, broker))
            #expect(error.message.contains("localhost:\(broker.port)"), "\(error)")
            #expect(!error.description.contains("secret"))
        }
    }

    @Test func `a wss connect fails with secureConnectionFailed if the authority is not trusted`() async throws {
        try await withBroker(.wss) { broker in
            let options = ConnectOptions(
                host: "localhost", port: broker.port, clientId: "wary", username: "", password: "", scheme: "wss")
            let error = try await failure(of: TestClient(options))
            #expect(error.code == .secureConnectionFailed)
            #expect(error.message.contains("localhost:\(broker.port)"), "\(error)")
        }
    }
}
