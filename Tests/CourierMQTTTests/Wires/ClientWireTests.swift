import CourierCore
import CourierTesting
import CourierTransport
import Foundation
import MQTTCodec
import TestSupport
import Testing

@testable import CourierMQTT

/// Clients over every transport, and the errors that an app receives when TLS fails.
@Suite(.timeLimit(.minutes(10)))
struct ClientWireTests {
    private func options(_ broker: WireBroker) -> ConnectOptions {
        let (host, scheme) =
            switch broker.wire {
            case .tcp, .memory: ("localhost", "mqtt")
            case .tls, .mutualTLS: ("localhost", "mqtts")
            case .unix: (broker.socketPath, "unix")
            }
        return ConnectOptions(
            host: host, port: broker.port, clientId: "wire-%%%%%%%%", username: "", password: "", scheme: scheme)
    }

    private func client(
        _ broker: WireBroker, tls: TLSClientConfiguration?, _ change: (inout MQTTClientConfig) -> Void = { _ in }
    ) throws -> TestClient {
        try TestClient(options(broker)) { config in
            config.tls = tls
            change(&config)
            if broker.wire == .memory { config.endpoint = { _ in broker.endpoint } }
        }
    }

    @Test(arguments: WireCase.wires)
    func `a client publishes and receives messages over TCP, TLS, Unix socket and memory`(_ wireCase: WireCase)
        async throws
    {
        try await WireBroker.with(wireCase) { broker in
            let test = try client(broker, tls: broker.clientTLS)
            try await test.connect()
            let client = test.client
            let reading = Task {
                var texts: [String] = []
                for try await text in client.messages(String.self, from: "wires/+", qos: .two) {
                    texts.append(text)
                    if texts.count == 3 { break }
                }
                return texts
            }
            try await test.wait(for: "subscribeSuccess")
            let long = String(repeating: "0123456789", count: 100_000)
            for (text, qos) in [("zero", QoS.zero), ("one", .one), (long, .two)] {
                let receipt = try await client.publish(text, to: "wires/a", qos: qos)
                #expect(receipt.reasonCode == .success)
            }
            let texts = try await reading.value
            #expect(texts == ["zero", "one", long])
            try await test.end()
        }
    }

    // MARK: TLS errors

    /// The first attempt's error for which `isWanted` returns true, taken from its event.
    private func failure(
        of test: TestClient, where isWanted: @escaping @Sendable (CourierError) -> Bool = { _ in true }
    ) async throws -> CourierError {
        @Sendable func wanted(_ events: [CourierEventType]) -> CourierError? {
            for case .connectionFailure(_, let error as CourierError) in events where isWanted(error) { return error }
            return nil
        }
        test.client.connect()
        defer { test.client.disconnect() }
        try await test.wait("for an attempt to fail") { wanted($0) != nil }
        return try #require(wanted(test.events))
    }

    private func expect(_ error: CourierError, _ words: [String], sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(error.code == .secureConnectionFailed, sourceLocation: sourceLocation)
        for word in words {
            #expect(error.message.contains(word), "\(error.message)", sourceLocation: sourceLocation)
        }
        #expect(error.cause is TransportError, sourceLocation: sourceLocation)
    }

    static let peers = WireCase.Peer.allCases

    @Test(arguments: peers)
    func `the error for an untrusted certificate authority names the broker and says what to trust`(
        peer: WireCase.Peer
    ) async throws {
        try await WireBroker.with(WireCase(peer: peer, wire: .tls), identity: "stranger") { broker in
            let test = try client(broker, tls: broker.clientTLS)
            expect(
                try await failure(of: test),
                [
                    "localhost:\(broker.port)", "not signed by a trusted authority", "add its certificate",
                    "`trust` of `config.tls`",
                ])
        }
    }

    @Test(arguments: peers)
    func `the error for a certificate of another host names the address and the expected host`(peer: WireCase.Peer)
        async throws
    {
        try await WireBroker.with(WireCase(peer: peer, wire: .tls), identity: "elsewhere") { broker in
            let test = try client(broker, tls: broker.clientTLS)
            expect(try await failure(of: test), ["localhost:\(broker.port)", "is not for “localhost”"])
        }
    }

    @Test(arguments: peers)
    func `the error for an expired broker certificate says that the broker's owner has to renew it`(peer: WireCase.Peer)
        async throws
    {
        try await WireBroker.with(WireCase(peer: peer, wire: .tls), identity: "expired") { broker in
            let test = try client(broker, tls: broker.clientTLS)
            expect(
                try await failure(of: test),
                ["localhost:\(broker.port)", "has expired", "its owner has to renew it"])
        }
    }

    /// In TLS 1.3 the broker sends this alert after the handshake, when the client has already sent CONNECT. Mosquitto
    /// closes without reading CONNECT. That resets the connection, and the alert may be lost. A later attempt gets it.
    @Test(arguments: peers)
    func `the error of a client without a certificate says that the broker requires a certificate`(peer: WireCase.Peer)
        async throws
    {
        try await WireBroker.with(WireCase(peer: peer, wire: .mutualTLS)) { broker in
            var tls = try #require(broker.clientTLS)
            tls.identity = nil
            let test = try client(broker, tls: tls) { $0.protocolVersion = .version5 }
            let error = try await failure(of: test) { ![.connectionFailed, .connectionLost].contains($0.code) }
            expect(error, ["localhost:\(broker.port)", "requires a certificate of the client"])
        }
    }

    /// Mosquitto resets the connection, and our broker closes it in order. Neither sends an explanation.
    @Test(arguments: peers)
    func `the error of a TLS connect to a plain TCP port names the port`(peer: WireCase.Peer) async throws {
        try await WireBroker.with(WireCase(peer: peer, wire: .tcp)) { broker in
            let options = ConnectOptions(
                host: "127.0.0.1", port: broker.port, clientId: "lost", username: "", password: "", scheme: "mqtts")
            let error = try await failure(of: try TestClient(options))
            let words = ["127.0.0.1:\(broker.port)", "in the middle of the TLS handshake; does this port speak TLS?"]
            expect(error, words)
            #expect(error.code == .secureConnectionFailed)
        }
    }

    @Test func `the client connects by itself after the broker's expired certificate is replaced`() async throws {
        let certificates = try await Certificates.shared
        let first = try LoopbackBroker.start(
            on: .tcp(port: try LocalPort.free()),
            tls: try TLSContext(server: TLSServerConfiguration(identity: certificates.identity("expired"))))
        let port = first.port
        let options = ConnectOptions(
            host: "localhost", port: port, clientId: "patient", username: "", password: "", scheme: "mqtts")
        let test = try TestClient(options) { $0.tls = certificates.client }
        test.client.connect()
        let error = await #expect(throws: CourierError.self) { try await test.client.connected() }
        #expect(error?.code == .secureConnectionFailed)
        await first.shutdown()
        try await LocalPort.untilFree(port)
        let second = try LoopbackBroker.start(
            on: .tcp(port: port), tls: try TLSContext(server: TLSServerConfiguration(identity: certificates.server)))
        try await test.wait(for: "connectionSuccess")
        try await test.end()
        await second.shutdown()
    }

    @Test func `a client receives a message from a ScriptedBroker over WebSocket`() async throws {
        let greeting = Publish(topic: "a", payload: Array("hello".utf8), delivery: .atMostOnce)
        let broker = try ScriptedBroker.start(
            [.connection([.serve(until: .subscribe), .answer, .send(.publish(greeting))])],
            webSocket: WebSocketConfiguration())
        var options = ConnectOptions.local(broker.port)
        options.scheme = "ws"
        let test = try TestClient(options)
        var values = test.client.messages(String.self, from: "a", qos: .zero).makeAsyncIterator()
        try await test.connect()
        #expect(try await values.next() == "hello")
        try await test.end()
        await broker.shutdown()
    }
}
