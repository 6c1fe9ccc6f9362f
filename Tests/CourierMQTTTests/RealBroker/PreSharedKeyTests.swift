import CourierCore
import CourierTransport
import Foundation
import TestSupport
import Testing

@testable import CourierMQTT

/// TLS with a pre-shared key. The mosquitto has no certificate.
@Suite(.timeLimit(.minutes(5))) struct PreSharedKeyTests {
    private static let key = "00112233445566778899aabbccddeeff"

    /// Runs `body` with a mosquitto that has the key of the identity "meter-7".
    private static func withBroker(_ body: (UInt16) async throws -> Void) async throws {
        let folder = try TemporaryFolder()
        try "meter-7:\(key)\n".write(toFile: folder.file("keys"), atomically: true, encoding: .utf8)
        let broker = try await RealBroker(settings: "psk_hint hint\npsk_file \(folder.file("keys"))")
        try await body(broker.port)
        await broker.remove()
        folder.remove()
    }

    private static func client(
        _ port: UInt16, _ shared: TLSPreSharedKey, _ change: (inout TLSClientConfiguration) -> Void = { _ in }
    ) throws -> TestClient {
        var tls = TLSClientConfiguration()
        tls.preSharedKey = shared
        change(&tls)
        return try TestClient(ConnectOptions(host: "127.0.0.1", port: port, transport: .tls, clientId: "meter")) {
            $0.tls = tls
            $0.reconnect.whenRefused = .stop
        }
    }

    @Test func `a client with a known pre-shared key connects, publishes and receives messages`() async throws {
        try await Self.withBroker { port in
            let test = try Self.client(port, TLSPreSharedKey(identity: "meter-7", hex: Self.key))
            test.client.connect()
            let texts = try await test.client.messages(String.self, from: "t").subscribed()
            try await test.client.publish("hello", to: "t")
            for try await text in texts.prefix(1) { #expect(text == "hello") }
            test.client.disconnect()
            test.client.connect()
            try await test.client.publish("again", to: "t")
            try await test.end()
        }
    }

    @Test func `a wrong pre-shared key or identity is refused, and the error does not show the key`() async throws {
        try await Self.withBroker { port in
            for shared in [
                TLSPreSharedKey(identity: "meter-7", key: Array(repeating: 0xAB, count: 16)),
                try TLSPreSharedKey(identity: "meter-8", hex: Self.key),
            ] {
                let test = try Self.client(port, shared)
                test.client.connect()
                try await test.wait(for: "connectionFailure")
                let error = try #require(test.events.compactMap { $0.error as? CourierError }.first)
                let text = "\(error) \(String(reflecting: error)) \(shared) \(String(reflecting: shared))"
                #expect(error.code == .secureConnectionFailed, "\(text)")
                #expect(error.message.contains("the identity \"\(shared.identity)\" of the pre-shared key"), "\(text)")
                #expect(!text.lowercased().contains("abab") && !text.contains(Self.key) && !text.contains("171"))
                try await test.end()
            }
        }
    }
}
