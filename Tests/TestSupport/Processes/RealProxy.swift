package import CourierTransport
import Foundation
import Glibc
import Synchronization

/// A real proxy on a port of 127.0.0.1 of its own: tinyproxy for HTTP, microsocks for SOCKS5. It is killed and started
/// again as the test says.
package final class RealProxy: Sendable {
    package struct StartFailure: Error, CustomStringConvertible {
        package let description: String
    }

    package let port: UInt16
    /// How a client is to use it.
    package let configuration: ProxyConfiguration
    private let words: [String]
    private let folder: TemporaryFolder
    /// `nil` while it does not run.
    private let process = Mutex<ChildProcess?>(nil)

    /// Starts a proxy, and returns when it takes connections.
    ///
    /// - Parameters:
    ///   - kind: What is to be spoken with it.
    ///   - user: Whom it lets in; anybody if `nil`.
    ///   - password: What that user has to give.
    ///   - allowedPort: The only port that an HTTP proxy connects to; any if `nil`.
    /// - Throws: ``StartFailure`` with what it said.
    package init(
        _ kind: ProxyConfiguration.Kind, user: String? = nil, password: String = "", allowedPort: UInt16? = nil
    ) async throws {
        folder = try TemporaryFolder()
        port = try LocalPort.free()
        configuration = try ProxyConfiguration(
            kind, host: "127.0.0.1", port: port,
            credentials: user.map { ProxyCredentials(user: $0, password: password) })
        switch kind {
        case .http:
            let settings = """
                Port \(port)
                Listen 127.0.0.1
                Allow 127.0.0.1
                Timeout 600
                MaxClients 100
                LogLevel Error
                \(user.map { "BasicAuth \($0) \(password)" } ?? "")
                \(allowedPort.map { "ConnectPort \($0)" } ?? "")

                """
            try settings.write(toFile: folder.file("proxy.conf"), atomically: true, encoding: .utf8)
            words = ["tinyproxy", "-d", "-c", folder.file("proxy.conf")]
        case .socks5, .socks5h:
            words =
                ["microsocks", "-i", "127.0.0.1", "-p", "\(port)"]
                + (user.map { ["-u", $0, "-P", password] } ?? [])
        }
        try await start()
    }

    deinit { process.withLock { $0 }?.end(by: SIGKILL) }

    /// How often a start is tried on a port that something holds for a moment: it was free when it was chosen.
    private static let startLimit = 100

    /// Runs it and returns when it takes connections.
    package func start() async throws {
        for attempt in 1... {
            guard let words = try await run() else { return }
            guard attempt < Self.startLimit, words.contains("in use") else {
                throw StartFailure(description: "\(self.words[0]) does not run on port \(port): \(words)")
            }
            try await Task.sleep(for: .milliseconds(50))  // Nobody says when the port is free.
        }
    }

    /// Runs it; what it said if it ended before it took connections.
    private func run() async throws -> String? {
        let child = try ChildProcess(words)
        process.withLock { $0 = child }
        let said = Mutex<[UInt8]?>(nil)
        // Read to its end, so that it never waits for a reader.
        Thread.detachNewThread {
            var all: [UInt8] = []
            while true {
                let part = child.read()
                if part.isEmpty { break }
                all += part
            }
            said.withLock { $0 = all }
        }
        let port = port
        let isThere = await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                // Neither program says when it is ready, so there is nothing to wait for but the port.
                var isThere = LocalPort.takesConnections(port)
                while !isThere, said.withLock({ $0 == nil }) {
                    usleep(2_000)
                    isThere = LocalPort.takesConnections(port)
                }
                continuation.resume(returning: isThere)
            }
        }
        return isThere ? nil : String(decoding: said.withLock { $0 } ?? [], as: UTF8.self)
    }

    /// Ends it without warning, and with it the connections through it; returns when it has ended.
    package func kill() async {
        guard let child = process.withLock({ $0.take() }) else { return }
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                child.end(by: SIGKILL)
                continuation.resume()
            }
        }
    }
}
