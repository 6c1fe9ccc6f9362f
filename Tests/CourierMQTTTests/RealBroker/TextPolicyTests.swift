import CourierCore
import TestSupport
import Testing

@testable import CourierMQTT

/// A real mosquitto closes the connection for topics that ``TextPolicy/portable`` refuses, and accepts similar topics
/// that the policy allows.
@Suite(.timeLimit(.minutes(5))) struct TextPolicyTests {
    private static let forbidden: [String] = [
        "a\u{1}", "a\n", "a\u{1F}", "a\u{7F}", "a\u{80}", "a\u{9F}", "a\(Unicode.Scalar.of(0xFDD0))",
        "a\(Unicode.Scalar.of(0xFDEF))", "a\(Unicode.Scalar.of(0xFFFE))",
        "a\(Unicode.Scalar.of(0xFFFF))",
        "a\(Unicode.Scalar.of(0x1FFFE))", "a\(Unicode.Scalar.of(0x10FFFF))", String(repeating: "/", count: 201),
    ]
    private static let allowed: [String] = [
        "a ", "a~", "a\u{A0}", "a\u{FDCF}", "a\u{FDF0}", "a\u{FEFF}", "a\u{E000}", "a\u{1FFFD}", "é/😀",
        String(repeating: "/", count: 200),
    ]

    @Test(arguments: [ProtocolVersionPolicy.version311, .version5])
    func `mosquitto accepts every topic that textPolicy = portable allows`(_ version: ProtocolVersionPolicy)
        async throws
    {
        let broker = try await RealBroker()
        let test = try TestClient(.local(broker.port)) { $0.protocolVersion = version }
        try await test.connect()
        for topic in Self.forbidden {
            await #expect(throws: CourierError.self) { try await test.client.publish("x", to: topic) }
        }
        for topic in Self.allowed { try await test.client.publish("x", to: topic, qos: .one) }
        #expect(!test.eventNames.contains("connectionLost"))
        try await test.end()
        _ = await broker.stop()
    }

    @Test(arguments: forbidden)
    func `mosquitto closes the connection for a topic that textPolicy = portable refuses`(
        _ topic: String
    ) async throws {
        let broker = try await RealBroker()
        let test = try TestClient(.local(broker.port)) { $0.limits.textPolicy = .anyLegal }
        try await test.connect()
        try test.client.publish(text: "x", to: topic, qos: .zero) { _ in }
        try await test.wait(for: "connectionLost", count: 1)
        try await test.end()
        _ = await broker.stop()
    }
}
