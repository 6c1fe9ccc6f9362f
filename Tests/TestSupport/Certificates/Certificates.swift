package import CourierTransport
import Foundation

/// The certificates for tests. The `openssl` command creates them once per test run.
package struct Certificates: Sendable {
    /// The number of whole days until the certificate `expiring` expires.
    package static let expiringDays = 10

    private static let made = Task.detached { try Certificates() }
    package static var shared: Certificates { get async throws { try await made.value } }

    package let folder: TemporaryFolder

    package var authorityFile: String { folder.file("ca.pem") }
    package var server: TLSIdentity { identity("server") }
    package var client: TLSClientConfiguration {
        var configuration = TLSClientConfiguration()
        configuration.trust = .authoritiesFile(authorityFile)
        return configuration
    }

    package func identity(_ name: String, passPhrase: String? = nil) -> TLSIdentity {
        TLSIdentity(
            certificateFile: folder.file("\(name).pem"), privateKeyFile: folder.file("\(name).key"),
            passPhrase: passPhrase)
    }

    package func pin(_ name: String) throws -> TLSPin {
        let key = try Self.openssl(["x509", "-in", folder.file("\(name).pem"), "-pubkey", "-noout"])
        let scratch = try TemporaryFolder()
        try String(decoding: key, as: UTF8.self).write(
            toFile: scratch.file("key.pem"), atomically: true, encoding: .utf8)
        try Self.openssl([
            "pkey", "-pubin", "-in", scratch.file("key.pem"), "-outform", "der", "-out", scratch.file("key.der"),
        ])
        let digest = try Self.openssl(["dgst", "-sha256", "-binary", scratch.file("key.der")])
        return try TLSPin(sha256: Array(digest))
    }

    private init() throws {
        folder = try TemporaryFolder()
        try authority("ca")
        try authority("other-ca")
        try authority("new-ca", subject: "ca")
        try leaf("server", names: "DNS:localhost,IP:127.0.0.1,IP:::1")
        try leaf("nameless", subject: "localhost", names: nil)
        try leaf("elsewhere", names: "DNS:elsewhere.example")
        try leaf("client", names: "DNS:client")
        try leaf("stranger", names: "DNS:localhost,IP:127.0.0.1", authority: "other-ca")
        try leaf(
            "forged", names: "DNS:localhost,IP:127.0.0.1", authority: "new-ca", more: "authorityKeyIdentifier = none")
        try leaf("expired", names: "DNS:localhost,IP:127.0.0.1", from: "20200101000000Z", until: "20200201000000Z")
        try leaf("early", names: "DNS:localhost,IP:127.0.0.1", from: "20900101000000Z", until: "20910101000000Z")
        try leaf(
            "expiring", names: "DNS:localhost,IP:127.0.0.1", until: Self.time(inDays: Double(Self.expiringDays) + 0.5))
        try leaf("middle-ca", names: "DNS:middle.example", constraints: "CA:TRUE")
        try "".write(toFile: folder.file("middle-ca.index"), atomically: true, encoding: .utf8)
        try leaf("unchained", names: "DNS:localhost,IP:127.0.0.1", authority: "middle-ca")
        try chain("chained", of: ["unchained", "middle-ca"])
        try Self.openssl([
            "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "3650",
            "-subj", "/CN=self-signed", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout",
            folder.file("self-signed.key"), "-out", folder.file("self-signed.pem"),
        ])
        try Self.openssl([
            "pkey", "-in", folder.file("client.key"), "-aes256", "-passout", "pass:open sesame", "-out",
            folder.file("locked.key"),
        ])
        try FileManager.default.copyItem(atPath: folder.file("client.pem"), toPath: folder.file("locked.pem"))
    }

    private func authority(_ name: String, subject: String? = nil) throws {
        try Self.openssl([
            "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "3650",
            "-subj", "/CN=\(subject ?? name)", "-keyout", folder.file("\(name).key"), "-out",
            folder.file("\(name).pem"),
        ])
        try "".write(toFile: folder.file("\(name).index"), atomically: true, encoding: .utf8)
    }

    private func leaf(
        _ name: String, subject: String? = nil, names: String?, authority: String = "ca",
        from: String = "20200101000000Z",
        until: String = "20900101000000Z", constraints: String = "CA:FALSE", more: String = ""
    ) throws {
        try Self.openssl([
            "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj",
            "/CN=\(subject ?? name)", "-keyout", folder.file("\(name).key"), "-out", folder.file("\(name).csr"),
        ])
        let configuration = """
            [ca]
            default_ca = default
            [default]
            database = \(folder.file("\(authority).index"))
            new_certs_dir = \(folder.path)
            rand_serial = yes
            default_md = sha256
            policy = policy
            x509_extensions = leaf
            unique_subject = no
            [policy]
            commonName = supplied
            [leaf]
            basicConstraints = \(constraints)
            \(names.map { "subjectAltName = \($0)" } ?? "")
            \(more)
            """
        let file = folder.file("\(name).cnf")
        try configuration.write(toFile: file, atomically: true, encoding: .utf8)
        try Self.openssl([
            "ca", "-batch", "-config", file, "-notext", "-in", folder.file("\(name).csr"), "-out",
            folder.file("\(name).pem"), "-cert", folder.file("\(authority).pem"), "-keyfile",
            folder.file("\(authority).key"), "-startdate", from, "-enddate", until,
        ])
    }

    /// Creates a file with the certificates of all parts in this order, and copies the key of the first part.
    private func chain(_ name: String, of parts: [String]) throws {
        let texts = try parts.map { try String(contentsOfFile: folder.file("\($0).pem"), encoding: .utf8) }
        try texts.joined().write(toFile: folder.file("\(name).pem"), atomically: true, encoding: .utf8)
        try FileManager.default.copyItem(
            atPath: folder.file("\(parts[0]).key"), toPath: folder.file("\(name).key"))
    }

    /// Returns a time this number of days from now, in the format of the `openssl ca` command.
    private static func time(inDays days: Double) -> String {
        let text = Date(timeIntervalSinceNow: days * 86_400).formatted(.iso8601)
        return text.filter { $0.isNumber } + "Z"
    }

    /// Returns the hash that `openssl rehash` uses to name the link to an authority's certificate.
    package static func subjectHash(_ file: String) throws -> String {
        let output = try Self.openssl(["x509", "-in", file, "-noout", "-hash"])
        return String(decoding: output, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// Returns the certificate and key with this name, and the authority's certificate, as PKCS#12.
    ///
    /// - Parameters:
    ///   - name: The name of the certificate and key.
    ///   - passPhrase: The pass phrase that encrypts the data.
    ///   - isLegacy: True to encrypt with RC2, as older programs did before 2020.
    ///   - hasMAC: True to add a checksum (MAC), which is used to check the pass phrase.
    /// - Returns: The bytes of the PKCS#12 file.
    /// - Throws: The output of the `openssl` command if it fails.
    package func pkcs12(_ name: String, passPhrase: String, isLegacy: Bool = false, hasMAC: Bool = true) throws
        -> [UInt8]
    {
        try Self.openssl(
            [
                "pkcs12", "-export", "-in", folder.file("\(name).pem"), "-inkey", folder.file("\(name).key"),
                "-certfile", authorityFile, "-passout", "pass:\(passPhrase)",
            ] + (isLegacy ? ["-legacy"] : []) + (hasMAC ? [] : ["-nomac"]))
    }

    /// Runs the `openssl` command.
    ///
    /// - Parameter arguments: The arguments of the command.
    /// - Returns: The output of the command.
    /// - Throws: The output of the command if it fails.
    @discardableResult
    package static func openssl(_ arguments: [String]) throws -> [UInt8] {
        try ChildProcess.run(["openssl"] + arguments)
    }
}

extension TLSIdentity {
    /// The certificate file. The identity must consist of two files.
    package var certificateFile: String { files[0] }
    /// The private key file. The identity must consist of two files.
    package var privateKeyFile: String { files[1] }
}
