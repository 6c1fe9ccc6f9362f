import Foundation
import TestSupport
import Testing

@testable import CourierTransport

/// TLS identities and authorities, in files and in memory, in every format.
@Suite struct TLSIdentityTests {
    enum Format: CaseIterable {
        case pem, der, lockedPEM, lockedDER, pkcs12, legacyPKCS12
    }

    private static let passPhrase = "open sesame"

    private static func bytes(_ file: String) throws -> [UInt8] { Array(try Data(contentsOf: URL(filePath: file))) }

    /// Returns the tests' client identity in one format, in memory and in files.
    private static func identities(
        _ format: Format, in folder: TemporaryFolder, passPhrase: String? = Self.passPhrase
    ) async throws -> [TLSIdentity] {
        let certificates = try await Certificates.shared
        let client = certificates.identity("client")
        let locked = certificates.identity("locked")
        func der(_ arguments: [String]) throws -> [UInt8] {
            try Certificates.openssl(arguments + ["-outform", "der", "-out", folder.file("out")])
            return try bytes(folder.file("out"))
        }
        func write(_ name: String, _ bytes: [UInt8]) throws -> String {
            try Data(bytes).write(to: URL(filePath: folder.file(name)))
            return folder.file(name)
        }
        func pair(_ certificate: [UInt8], _ key: [UInt8], _ passPhrase: String?) throws -> [TLSIdentity] {
            [
                TLSIdentity(certificates: certificate, privateKey: key, passPhrase: passPhrase),
                TLSIdentity(
                    certificateFile: try write("certificate", certificate), privateKeyFile: try write("key", key),
                    passPhrase: passPhrase),
            ]
        }
        func one(_ bytes: [UInt8]) throws -> [TLSIdentity] {
            [
                TLSIdentity(pkcs12: bytes, passPhrase: passPhrase),
                TLSIdentity(pkcs12File: try write("p12", bytes), passPhrase: passPhrase),
            ]
        }
        let certificate = ["x509", "-in", client.certificateFile]
        switch format {
        case .pem: return try pair(bytes(client.certificateFile), bytes(client.privateKeyFile), nil)
        case .der: return try pair(der(certificate), der(["pkey", "-in", client.privateKeyFile]), nil)
        case .lockedPEM: return try pair(bytes(locked.certificateFile), bytes(locked.privateKeyFile), passPhrase)
        case .lockedDER:
            let key = try der([
                "pkcs8", "-topk8", "-in", client.privateKeyFile, "-passout", "pass:\(Self.passPhrase)",
            ])
            return try pair(der(certificate), key, passPhrase)
        case .pkcs12: return try one(certificates.pkcs12("client", passPhrase: Self.passPhrase))
        case .legacyPKCS12:
            return try one(certificates.pkcs12("client", passPhrase: Self.passPhrase, isLegacy: true))
        }
    }

    private static func error(_ identity: TLSIdentity) -> TransportError? {
        var configuration = TLSClientConfiguration()
        configuration.identity = identity
        return error(configuration)
    }

    private static func error(_ configuration: TLSClientConfiguration) -> TransportError? {
        do throws(TransportError) {
            _ = try TLSContext(client: configuration)
            return nil
        } catch {
            return error
        }
    }

    /// Connects with TLS to a server that requires a client certificate, and expects an echo.
    private static func expectEcho(
        _ client: TLSClientConfiguration, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let certificates = try await Certificates.shared
        var server = TLSServerConfiguration(identity: certificates.server)
        server.clientAuthoritiesFile = certificates.authorityFile
        let loop = try EventLoop()
        let echo = Echo()
        let listener = try ChannelListener.listen(tls: TLSContext(server: server), loop: loop) { _ in echo }
        let recorder = Recorder()
        let channel = ByteChannel.connect(
            to: .tcp(host: "localhost", port: listener.port), tls: try TLSContext(client: client), on: loop,
            handler: recorder)
        channel.send([1, 2, 3])
        #expect(try await recorder.bytes(3) == [1, 2, 3], sourceLocation: sourceLocation)
        await loop.shutdown()
    }

    // MARK: Accepted

    @Test(arguments: Format.allCases)
    func `a client identity is accepted in every supported format, from memory and from files`(format: Format)
        async throws
    {
        let folder = try TemporaryFolder()
        for identity in try await Self.identities(format, in: folder) {
            var configuration = try await Certificates.shared.client
            configuration.identity = identity
            try await Self.expectEcho(configuration)
        }
    }

    @Test
    func `trusted authorities can be loaded from memory, as several PEM certificates or one DER certificate`()
        async throws
    {
        let certificates = try await Certificates.shared
        let authority = try Self.bytes(certificates.authorityFile)
        let other = try Self.bytes(certificates.folder.file("other-ca.pem"))
        let der = try Certificates.openssl(["x509", "-in", certificates.authorityFile, "-outform", "der"])
        for bytes in [authority, other + authority, authority + authority, der] {
            var configuration = certificates.client
            configuration.trust = .authorities(bytes)
            configuration.identity = certificates.identity("client")
            try await Self.expectEcho(configuration)
        }
    }

    @Test func `intermediate certificates of an identity in memory are sent to the peer`() async throws {
        let certificates = try await Certificates.shared
        let chained = certificates.identity("chained")
        let identity = TLSIdentity(
            certificates: try Self.bytes(chained.certificateFile), privateKey: try Self.bytes(chained.privateKeyFile))
        let loop = try EventLoop()
        let server = try TLSContext(server: TLSServerConfiguration(identity: identity))
        let listener = try ChannelListener.listen(tls: server, loop: loop) { _ in Echo() }
        let recorder = Recorder()
        let channel = ByteChannel.connect(
            to: .tcp(host: "localhost", port: listener.port), tls: try TLSContext(client: certificates.client),
            on: loop,
            handler: recorder)
        channel.send([1])
        #expect(try await recorder.bytes(1) == [1])
        await loop.shutdown()
    }

    // MARK: Refused

    @Test(arguments: [Format.lockedPEM, .lockedDER, .pkcs12, .legacyPKCS12], [nil, "not this"])
    func `the error for an encrypted key says whether the pass phrase is missing or wrong, and names the file`(
        format: Format, passPhrase: String?
    ) async throws {
        let folder = try TemporaryFolder()
        for identity in try await Self.identities(format, in: folder, passPhrase: passPhrase) {
            let error = try #require(Self.error(identity))
            #expect(error.code == .wrongPassPhrase, "\(error)")
            #expect(error.message.hasSuffix(passPhrase == nil ? "is missing" : "is wrong"), "\(error)")
            #expect(error.message.contains(identity.files.last ?? "the bytes in memory"), "\(error)")
            #expect(!error.message.contains("not this"))
        }
    }

    @Test func `the error for an invalid certificate or key says whether a file or memory contained the invalid data`()
        async throws
    {
        let folder = try TemporaryFolder()
        let certificates = try await Certificates.shared
        let client = certificates.identity("client")
        let (certificate, key) = (try Self.bytes(client.certificateFile), try Self.bytes(client.privateKeyFile))
        for bytes in [[], Array("nothing".utf8), [0x30, 0x82, 0xFF, 0xFF], [UInt8](repeating: 0x30, count: 10_000)] {
            let badCertificate = TLSIdentity(certificates: bytes, privateKey: key)
            #expect(Self.error(badCertificate)?.code == .badCertificateFile)
            #expect(Self.error(badCertificate)?.message.contains("the bytes in memory") == true)
            #expect(Self.error(TLSIdentity(certificates: certificate, privateKey: bytes))?.code == .badPrivateKeyFile)
            #expect(Self.error(TLSIdentity(pkcs12: bytes))?.code == .badCertificateFile)
            try Data(bytes).write(to: URL(filePath: folder.file("p12")))
            let badFile = try #require(Self.error(TLSIdentity(pkcs12File: folder.file("p12"), passPhrase: "x")))
            #expect(badFile.code == .badCertificateFile && badFile.message.contains(folder.file("p12")))
            var configuration = TLSClientConfiguration()
            configuration.trust = .authorities(bytes)
            #expect(Self.error(configuration)?.code == .badCertificateFile)
        }
        // A chain that ends in the middle of a certificate is refused.
        let half = certificate + Array(certificate.prefix(certificate.count / 2))
        #expect(Self.error(TLSIdentity(certificates: half, privateKey: key))?.code == .badCertificateFile)
        let other = try Self.bytes(certificates.identity("server").privateKeyFile)
        #expect(Self.error(TLSIdentity(certificates: certificate, privateKey: other))?.code == .keyMismatch)
    }

    @Test func `random changes of a PKCS#12 archive do not crash the parser`() async throws {
        let bytes = try await Certificates.shared.pkcs12("client", passPhrase: Self.passPhrase, isLegacy: true)
        var random = SystemRandomNumberGenerator()
        for _ in 0..<50 {
            var changed = bytes
            changed[Int.random(in: 0..<bytes.count, using: &random)] ^= UInt8.random(in: 1...255, using: &random)
            _ = Self.error(TLSIdentity(pkcs12: changed, passPhrase: Self.passPhrase))
            _ = Self.error(TLSIdentity(pkcs12: Array(changed.prefix(changed.count / 2)), passPhrase: Self.passPhrase))
        }
        #expect(Self.error(TLSIdentity(pkcs12: bytes, passPhrase: Self.passPhrase)) == nil)
    }

    @Test func `the error for a PKCS#12 archive without a checksum names the missing checksum`() async throws {
        for isLegacy in [false, true] {
            let bytes = try await Certificates.shared.pkcs12(
                "client", passPhrase: Self.passPhrase, isLegacy: isLegacy, hasMAC: false)
            let error = try #require(Self.error(TLSIdentity(pkcs12: bytes, passPhrase: Self.passPhrase)))
            #expect(error.code == .badCertificateFile && error.message.contains("has no checksum"), "\(error)")
        }
    }

    // MARK: Secrets

    @Test func `printing or dumping an identity never shows the private key or the pass phrase`() {
        let key = Array("PRIVATE".utf8)
        let identities = [
            TLSIdentity(certificates: [1], privateKey: key, passPhrase: "hush"),
            TLSIdentity(pkcs12: key, passPhrase: "hush"), TLSIdentity(pkcs12File: "a.p12", passPhrase: "hush"),
        ]
        for identity in identities {
            var configuration = TLSClientConfiguration()
            configuration.identity = identity
            var text =
                "\(identity) \(String(reflecting: identity)) \(configuration) \(String(reflecting: configuration))"
            dump(configuration, to: &text)
            #expect(!text.contains("hush") && !text.contains("PRIVATE") && !text.contains("80, 82, 73"))
            #expect(!text.contains("80\n") || !text.contains("82\n"))
        }
    }
}
