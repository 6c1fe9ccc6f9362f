import BenchmarkHarness
import CourierTransport
import Foundation

/// A self-signed certificate for 127.0.0.1 and its key. The `openssl` command creates both for one run.
final class Keys {
    private let folder: URL

    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("courier-bench-\(UUID().uuidString)")
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/openssl")
        process.arguments = [
            "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
            "-subj",
            "/CN=bench", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", file("key.pem"), "-out", file("cert.pem"),
        ]
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw Failure("openssl made no certificate") }
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    var server: TLSServerConfiguration {
        TLSServerConfiguration(
            identity: TLSIdentity(certificateFile: file("cert.pem"), privateKeyFile: file("key.pem")))
    }

    var client: TLSClientConfiguration {
        var configuration = TLSClientConfiguration()
        configuration.trust = .authoritiesFile(file("cert.pem"))
        return configuration
    }

    private func file(_ name: String) -> String { folder.appendingPathComponent(name).path }
}
