import CourierCore
import CourierTransport
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import CourierMQTT

/// Certificates that are replaced while a client runs. The mosquitto requires a client certificate.
@Suite(.timeLimit(.minutes(5))) struct TLSRotationTests {
    /// The certificate files of the client and the broker. The test replaces files while they are used.
    private struct Files {
        let folder: TemporaryFolder
        let certificates: Certificates

        init() async throws {
            folder = try TemporaryFolder()
            certificates = try await Certificates.shared
        }

        /// Replaces the file `name` by `source`, in one step.
        func replace(_ name: String, by source: String) throws {
            let fresh = folder.file("\(name).new")
            try? FileManager.default.removeItem(atPath: fresh)
            try FileManager.default.copyItem(atPath: certificates.folder.file(source), toPath: fresh)
            try FileManager.default.moveInPlace(fresh, folder.file(name))
        }

        func write(_ text: String, to name: String) throws {
            try text.write(toFile: folder.file(name), atomically: false, encoding: .utf8)
        }

        /// Replaces the broker's certificate, and the authority that the broker trusts.
        func useForBroker(authority: String, identity: String) throws {
            try replace("broker-ca.pem", by: "\(authority).pem")
            try replace("broker.pem", by: "\(identity).pem")
            try replace("broker.key", by: "\(identity).key")
        }

        /// Replaces the client's certificate, and the authority that the client trusts.
        func useForClient(authority: String, identity: String) throws {
            try replace("client-ca.pem", by: "\(authority).pem")
            try replace("client.pem", by: "\(identity).pem")
            try replace("client.key", by: "\(identity).key")
        }

        func broker() async throws -> RealBroker {
            try await RealBroker(
                settings: """
                    cafile \(folder.file("broker-ca.pem"))
                    certfile \(folder.file("broker.pem"))
                    keyfile \(folder.file("broker.key"))
                    require_certificate true
                    """)
        }

        var client: TLSClientConfiguration {
            var configuration = TLSClientConfiguration()
            configuration.trust = .authoritiesFile(folder.file("client-ca.pem"))
            configuration.identity = TLSIdentity(
                certificateFile: folder.file("client.pem"), privateKeyFile: folder.file("client.key"))
            return configuration
        }
    }

    private func options(_ broker: RealBroker) -> ConnectOptions {
        ConnectOptions(host: "localhost", port: broker.port, clientId: "rotating", username: "", password: "")
    }

    @Test func `after certificate files are replaced, the next connection uses the new files`() async throws {
        let files = try await Files()
        try files.useForBroker(authority: "ca", identity: "server")
        try files.useForClient(authority: "ca", identity: "client")
        let broker = try await files.broker()
        let test = try TestClient(options(broker)) { $0.tls = files.client }
        try await test.connect()

        // Another authority signs the certificates of both sides from now on.
        try files.useForBroker(authority: "other-ca", identity: "stranger")
        try files.useForClient(authority: "other-ca", identity: "stranger")
        try await broker.restart()
        try await test.wait(for: "connectionSuccess", count: 2)
        try await test.client.publish("hello", to: "a", qos: .one)
        try await test.end()
        await broker.remove()
    }

    @Test func `the client retries with outdated certificates and connects after the new files arrive`() async throws {
        let files = try await Files()
        try files.useForBroker(authority: "ca", identity: "server")
        try files.useForClient(authority: "ca", identity: "client")
        let broker = try await files.broker()
        let test = try TestClient(options(broker)) { $0.tls = files.client }
        try await test.connect()
        try files.useForBroker(authority: "other-ca", identity: "stranger")
        try await broker.restart()
        try await test.wait("for a failure of TLS") { events in
            events.contains { ($0.error as? CourierError)?.code == .secureConnectionFailed }
        }
        #expect(test.events.count { $0.name == "connectionSuccess" } == 1, "the old ones are good for nothing")
        try files.useForClient(authority: "other-ca", identity: "stranger")
        try await test.wait(for: "connectionSuccess", count: 2)
        try await test.end()
        await broker.remove()
    }

    @Test func `if a certificate file becomes invalid, the error names the file and the client retries`() async throws {
        let files = try await Files()
        try files.useForBroker(authority: "ca", identity: "server")
        try files.useForClient(authority: "ca", identity: "client")
        let broker = try await files.broker()
        let test = try TestClient(options(broker)) { $0.tls = files.client }
        try await test.connect()
        try files.write("no certificate at all\n", to: "client.pem")
        try await broker.restart()
        try await test.wait(for: "connectionFailure", count: 2)
        let errors = test.events.filter { $0.name == "connectionFailure" }.compactMap { $0.error as? CourierError }
        #expect(errors.contains { $0.message.contains(files.folder.file("client.pem")) }, "\(errors)")
        #expect(errors.allSatisfy { $0.code != .invalidConfiguration })
        try files.useForClient(authority: "ca", identity: "client")
        try await test.wait(for: "connectionSuccess", count: 2)
        try await test.end()
        await broker.remove()
    }

    @Test func `a certificate source is called for each connection, and the client retries if the source fails`()
        async throws
    {
        struct NotYet: Error {}
        let files = try await Files()
        try files.useForBroker(authority: "ca", identity: "server")
        let broker = try await files.broker()
        let certificates = files.certificates
        let current = Mutex<TLSMaterial?>(nil)
        let asked = Mutex(0)
        let test = try TestClient(options(broker)) {
            var tls = TLSClientConfiguration()
            tls.material = {
                asked.withLock { $0 += 1 }
                guard let material = current.withLock({ $0 }) else { throw NotYet() }
                return material
            }
            $0.tls = tls
        }
        test.client.connect()
        try await test.wait(for: "connectionFailure")
        let error = test.events.compactMap { $0.error as? CourierError }.first
        #expect(error?.code == .secureConnectionFailed && error?.message.contains("source of TLS certificates") == true)
        current.withLock {
            $0 = TLSMaterial(
                trust: .authoritiesFile(certificates.authorityFile), identity: certificates.identity("client"))
        }
        try await test.client.connected()

        try files.useForBroker(authority: "other-ca", identity: "stranger")
        current.withLock {
            $0 = TLSMaterial(
                trust: .authoritiesFile(certificates.folder.file("other-ca.pem")),
                identity: certificates.identity("stranger"))
        }
        try await broker.restart()
        try await test.wait(for: "connectionSuccess", count: 2)
        #expect(asked.withLock { $0 } >= 3)
        try await test.end()
        await broker.remove()
    }

    // MARK: The cache

    private func plan(_ tls: TLSClientConfiguration) throws -> ConnectPlan {
        var settings = ConnectionSettings()
        settings.tls = tls
        return try ConnectPlan(
            ConnectOptions(host: "a", port: 1, clientId: "c", username: "", password: ""), settings)
    }

    @Test func `a TLS context is reused until one of its files is replaced`() async throws {
        let files = try await Files()
        try files.useForClient(authority: "ca", identity: "client")
        let cache = TLSContextCache()
        let plan = try plan(files.client)
        let first = try cache.context(for: plan)
        #expect(try cache.context(for: plan) === first)
        for name in ["client-ca.pem", "client.pem", "client.key"] {
            let before = try cache.context(for: plan)
            try files.replace(name, by: name == "client-ca.pem" ? "ca.pem" : name)
            let after = try cache.context(for: plan)
            #expect(after !== before, "\(name) was replaced")
            #expect(try cache.context(for: plan) === after)
        }
    }

    @Test func `an invalid key file throws invalidConfiguration at the first load, and secureConnectionFailed later`()
        async throws
    {
        let files = try await Files()
        try files.useForClient(authority: "ca", identity: "client")
        try files.write("garbage", to: "client.key")
        let plan = try plan(files.client)
        let cache = TLSContextCache()
        expectCourierError(.invalidConfiguration, "client.key") { try cache.context(for: plan) }
        try files.useForClient(authority: "ca", identity: "client")
        #expect(try cache.context(for: plan) != nil)
        try files.replace("client.key", by: "stranger.key")
        expectCourierError(.secureConnectionFailed, "does not belong to the certificate") {
            try cache.context(for: plan)
        }
    }
}

extension FileManager {
    /// Renames a file, and replaces the target.
    fileprivate func moveInPlace(_ source: String, _ target: String) throws {
        guard rename(source, target) == 0 else { throw CocoaError(.fileWriteUnknown) }
    }
}
