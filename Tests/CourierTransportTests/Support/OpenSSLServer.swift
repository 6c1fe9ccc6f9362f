import Glibc
import TestSupport

@testable import CourierTransport

/// A server run by the `openssl` command, for features that our own server does not have.
final class OpenSSLServer {
    private let process: ChildProcess

    init(_ certificates: Certificates, _ arguments: [String]) throws {
        let identity = certificates.server
        process = try ChildProcess(
            [
                "openssl", "s_server", "-www", "-accept", "127.0.0.1:0", "-cert", identity.certificateFile, "-key",
                identity.privateKeyFile,
            ] + arguments)
    }

    /// Returns the port on which the server listens, read from its output.
    func port() throws -> UInt16 {
        var text = ""
        while true {
            let part = process.read()
            if part.isEmpty { throw ChildProcess.Failure(description: "openssl s_server said: \(text)") }
            text += String(decoding: part, as: UTF8.self)
            for line in text.split(separator: "\n") where line.hasPrefix("ACCEPT ") {
                if let port = line.split(separator: ":").last.flatMap({ UInt16($0) }) { return port }
            }
        }
    }

    func stop() { process.end(by: SIGKILL) }
}
