package import CourierTransport
import Foundation

/// Certificates made by the `openssl` command, once per run of the tests.
package struct Certificates: Sendable {
    /// In how many whole days `expiring` ends.
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

    /// The first one, with its key, and behind it the others.
    private func chain(_ name: String, of parts: [String]) throws {
        let texts = try parts.map { try String(contentsOfFile: folder.file("\($0).pem"), encoding: .utf8) }
        try texts.joined().write(toFile: folder.file("\(name).pem"), atomically: true, encoding: .utf8)
        try FileManager.default.copyItem(
            atPath: folder.file("\(parts[0]).key"), toPath: folder.file("\(name).key"))
    }

    /// A time from now as certificates have it.
    private static func time(inDays days: Double) -> String {
        let text = Date(timeIntervalSinceNow: days * 86_400).formatted(.iso8601)
        return text.filter { $0.isNumber } + "Z"
    }

    /// The name under which `openssl rehash` links an authority.
    package static func subjectHash(_ file: String) throws -> String {
        let output = try Self.openssl(["x509", "-in", file, "-noout", "-hash"])
        return String(decoding: output, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// The certificate and key of a name, and the certificate of the authority, as PKCS#12.
    ///
    /// - Parameters:
    ///   - name: Whose they are.
    ///   - passPhrase: What they are encrypted with.
    ///   - isLegacy: Whether RC2 encrypts them, as programs of the years before 2020 did.
    ///   - hasMAC: Whether it has a checksum, by which the pass phrase is checked.
    /// - Returns: The bytes.
    /// - Throws: What the `openssl` command says.
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
    /// - Parameter arguments: Its arguments.
    /// - Returns: What it prints.
    /// - Throws: What it says when it fails.
    @discardableResult
    package static func openssl(_ arguments: [String]) throws -> [UInt8] {
        try ChildProcess.run(["openssl"] + arguments)
    }
}

extension TLSIdentity {
    /// Of an identity in two files.
    package var certificateFile: String { files[0] }
    /// Of an identity in two files.
    package var privateKeyFile: String { files[1] }
}
