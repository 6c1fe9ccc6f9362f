import Foundation
import TestSupport
import Testing

/// Connections that fail because the broker or TLS refuses them.
struct RefusalSideBySideTests {
    @Test func `output and exit code after a refused connection equal those of mosquitto's clients`() async throws {
        let folder = try TemporaryFolder()
        let passwords = folder.file("passwords")
        let made = try await ProgramRun(["/usr/bin/mosquitto_passwd", "-b", "-c", passwords, "ada", "secret"]).end()
        try #require(made.code == 0)
        let broker = try await RealBroker(settings: "allow_anonymous false\npassword_file \(passwords)")
        let place = ["-h", "127.0.0.1", "-p", "\(broker.port)"]
        for (command, arguments) in [
            ("pub", ["-t", "a", "-m", "x"]), ("pub", ["-t", "a", "-m", "x", "-V", "5"]), ("pub", ["-t", "a", "-l"]),
            ("sub", ["-t", "a"]), ("sub", ["-t", "a", "-V", "5"]), ("sub", ["-t", "a", "-u", "ada", "-P", "wrong"]),
            ("rr", ["-t", "a", "-e", "b", "-m", "x"]), ("rr", ["-t", "a", "-e", "b", "-m", "x", "-V", "311"]),
            ("pub", ["-t", "a", "-m", "x", "-u", "ada", "-P", "secret", "-q", "1"]),
        ] {
            let theirs = try await ProgramRun(Peer.mosquitto.words(command) + place + arguments).end()
            let ours = try await ProgramRun(Peer.courier.words(command) + place + arguments).end()
            #expect(ours.code == theirs.code, "\(command) \(arguments)")
            #expect(ours.text == theirs.text, "\(command) \(arguments)")
            // mosquitto_rr prints MQTT 3.1.1 return codes as if they were reason codes.
            if command != "rr" { #expect(ours.errorLines.first == theirs.errorLines.first, "\(command) \(arguments)") }
        }
        await broker.remove()
    }

    @Test func `pub connects by TLS only if the CA file matches the broker's certificate`() async throws {
        let certificates = try await Certificates.shared
        let broker = try await RealBroker(
            settings: """
                cafile \(certificates.authorityFile)
                certfile \(certificates.folder.file("server.pem"))
                keyfile \(certificates.folder.file("server.key"))
                """)
        func run(_ peer: Peer, _ more: String...) async throws -> Int32 {
            let arguments = ["-h", "localhost", "-p", "\(broker.port)", "-t", "a", "-m", "x", "-q", "1"]
            return try await ProgramRun(peer.words("pub") + arguments + more).end().code
        }
        for peer in Peer.allCases {
            #expect(try await run(peer, "--cafile", certificates.authorityFile) == 0, "\(peer)")
            #expect(
                try await run(peer, "--cafile", certificates.authorityFile, "--tls-version", "tlsv1.3") == 0, "\(peer)")
            // mosquitto_pub exits with 1 or 8. The code depends on when the handshake fails.
            let code = try await run(peer, "--cafile", certificates.folder.file("other-ca.pem"))
            #expect(code == 8 || peer == .mosquitto && code == 1, "\(peer)")
            #expect(try await run(peer, "--cafile", "/nowhere") == 1, "\(peer)")
        }
        await broker.remove()
    }

    @Test func `--insecure accepts a certificate for another host and refuses an unknown authority`() async throws {
        let certificates = try await Certificates.shared
        let broker = try await RealBroker(
            settings: """
                cafile \(certificates.authorityFile)
                certfile \(certificates.folder.file("elsewhere.pem"))
                keyfile \(certificates.folder.file("elsewhere.key"))
                """)
        func run(_ peer: Peer, _ authority: String, _ more: String...) async throws -> Int32 {
            let arguments = ["-h", "localhost", "-p", "\(broker.port)", "-t", "a", "-m", "x", "-q", "1"]
            return try await ProgramRun(peer.words("pub") + arguments + ["--cafile", authority] + more).end().code
        }
        for peer in Peer.allCases {
            #expect(try await run(peer, certificates.authorityFile) != 0, "\(peer)")
            #expect(try await run(peer, certificates.authorityFile, "--insecure") == 0, "\(peer)")
            #expect(try await run(peer, certificates.folder.file("other-ca.pem"), "--insecure") != 0, "\(peer)")
        }
        await broker.remove()
    }
}
