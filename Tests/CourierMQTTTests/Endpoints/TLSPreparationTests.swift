import CourierCore
import CourierTransport
import Dispatch
import Synchronization
import TestSupport
import Testing

@testable import CourierMQTT

/// Calls of a client whose app needs a long time to return TLS certificates.
@Suite(.timeLimit(.minutes(5))) struct TLSPreparationTests {
    /// A source that blocks its first call until the test continues it.
    private final class Source: Sendable {
        let hasBegun = DispatchSemaphore(value: 0)
        let mayEnd = DispatchSemaphore(value: 0)
        let askedCount = Atomic<Int>(0)
        private let material: TLSMaterial

        init(_ material: TLSMaterial) { self.material = material }

        var configuration: TLSClientConfiguration {
            var configuration = TLSClientConfiguration()
            configuration.material = { [self] in
                if askedCount.add(1, ordering: .relaxed).oldValue == 0 {
                    hasBegun.signal()
                    mayEnd.wait()
                }
                return material
            }
            return configuration
        }

        /// Returns when the source was called.
        func begun() async {
            await withCheckedContinuation { continuation in
                DispatchQueue.global().async {
                    self.hasBegun.wait()
                    continuation.resume()
                }
            }
        }
    }

    private static func source() async throws -> Source {
        let certificates = try await Certificates.shared
        return Source(TLSMaterial(trust: .authoritiesFile(certificates.authorityFile)))
    }

    private static func options(_ port: UInt16) -> ConnectOptions {
        ConnectOptions(host: "localhost", port: port, clientId: "patient", username: "", password: "")
    }

    @Test func `disconnectAndWait() does not wait for a slow source of TLS certificates`() async throws {
        let source = try await Self.source()
        let test = try TestClient(Self.options(1)) { $0.tls = source.configuration }
        test.client.connect()
        await source.begun()
        await test.client.disconnectAndWait()
        try await test.wait(for: "connectionFailure")
        source.mayEnd.signal()
        try await test.end()
    }

    @Test func `a new attempt waits until the certificate load of an abandoned attempt ends`() async throws {
        let source = try await Self.source()
        let certificates = try await Certificates.shared
        let broker = try await RealBroker(
            settings: """
                certfile \(certificates.folder.file("server.pem"))
                keyfile \(certificates.folder.file("server.key"))
                """)
        let test = try TestClient(Self.options(broker.port)) { $0.tls = source.configuration }
        test.client.connect()
        await source.begun()
        await test.client.disconnectAndWait()
        test.client.connect()
        try await test.wait(for: "connectionAttempt", count: 2)
        #expect(source.askedCount.load(ordering: .relaxed) == 1)
        source.mayEnd.signal()
        try await test.client.connected()
        #expect(source.askedCount.load(ordering: .relaxed) == 2)
        try await test.end()
        await broker.remove()
    }
}
