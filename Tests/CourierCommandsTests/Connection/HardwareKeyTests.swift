import Foundation
import TestSupport
import Testing

/// `--tls-engine pkcs11`: the private key is in a token, here a token of SoftHSM. mosquitto requires the certificate.
@Suite(.timeLimit(.minutes(5))) struct HardwareKeyTests {
    /// The output and the exit code of a run of `courier`.
    private struct Run {
        let text: String
        let code: Int32
    }

    private struct Stage {
        let folder: TemporaryFolder
        let broker: RealBroker
        let certificates: Certificates

        /// Publishes with the private key of a PKCS #11 URI. The folder contains the SoftHSM configuration.
        func publish(_ uri: String) throws -> Run {
            let courier = try CourierExecutable.path.get()
            let identity = certificates.identity("client")
            let child = try ChildProcess(
                [
                    "/usr/bin/env", "SOFTHSM2_CONF=\(folder.file("softhsm2.conf"))", courier, "pub", "-h", "localhost",
                    "-p",
                    "\(broker.port)", "--cafile", certificates.authorityFile, "--cert", identity.certificateFile,
                    "--tls-engine", "pkcs11", "--keyform", "engine", "--key", uri, "-t", "a", "-m", "x", "-q", "1",
                ])
            var text: [UInt8] = []
            while true {
                let part = child.read()
                if part.isEmpty { break }
                text += part
            }
            return Run(text: String(decoding: text, as: UTF8.self), code: child.waitForEnd() >> 8)
        }
    }

    private static func run(_ body: (Stage) async throws -> Void) async throws {
        let folder = try TemporaryFolder()
        let certificates = try await Certificates.shared
        try FileManager.default.createDirectory(atPath: folder.file("tokens"), withIntermediateDirectories: false)
        try "directories.tokendir = \(folder.file("tokens"))\n"
            .write(toFile: folder.file("softhsm2.conf"), atomically: true, encoding: .utf8)
        let tool = ["/usr/bin/env", "SOFTHSM2_CONF=\(folder.file("softhsm2.conf"))", "softhsm2-util"]
        try ChildProcess.run(
            tool + ["--init-token", "--free", "--label", "courier", "--pin", "1234", "--so-pin", "5678"])
        let key = folder.file("key.pem")
        try Certificates.openssl([
            "pkcs8", "-topk8", "-nocrypt", "-in", certificates.identity("client").privateKeyFile, "-out", key,
        ])
        try ChildProcess.run(
            tool + ["--import", key, "--token", "courier", "--label", "key", "--id", "a1", "--pin", "1234"])
        let broker = try await RealBroker(
            settings: """
                cafile \(certificates.authorityFile)
                certfile \(certificates.server.certificateFile)
                keyfile \(certificates.server.privateKeyFile)
                require_certificate true
                """)
        try await body(Stage(folder: folder, broker: broker, certificates: certificates))
        await broker.remove()
        folder.remove()
    }

    private static let uri = "pkcs11:token=courier;object=key"

    @Test func `pub connects with a client certificate whose private key is in a PKCS11 token`() async throws {
        try await Self.run { stage in
            for uri in ["\(Self.uri)?pin-value=1234", "\(Self.uri)?pin-value=%31234"] {
                let run = try stage.publish(uri)
                #expect(run.code == 0 && run.text.isEmpty, "\(run.text)")
            }
        }
    }

    @Test func `a wrong PIN, a missing PIN and a missing key are reported without printing the PIN`() async throws {
        try await Self.run { stage in
            let wrong = try stage.publish("\(Self.uri)?pin-value=9876")
            #expect(
                wrong.code == 1 && wrong.text.contains("the PIN of the private key \(Self.uri) is wrong"),
                "\(wrong.text)")
            #expect(!wrong.text.contains("9876"))
            let missing = try stage.publish(Self.uri)
            #expect(missing.code == 1 && missing.text.contains("give the PIN"), "\(missing.text)")
            let absent = try stage.publish("pkcs11:token=courier;object=other?pin-value=1234")
            #expect(absent.code == 1 && absent.text.contains("has no private key pkcs11:token=courier;object=other"))
            #expect(!absent.text.contains("1234"), "\(absent.text)")
            let nothing = try stage.publish("/etc/key.pem")
            #expect(nothing.code == 1 && nothing.text.contains("begins with `pkcs11:`"), "\(nothing.text)")
        }
    }
}
