package import CourierTransport
import Foundation
import Glibc
import Synchronization

/// A real proxy on its own port of 127.0.0.1: tinyproxy for HTTP, microsocks for SOCKS5. Tests can kill and restart it.
package final class RealProxy: Sendable {
    package struct StartFailure: Error, CustomStringConvertible {
        package let description: String
    }

    package let port: UInt16
    /// The proxy configuration for a client.
    package let configuration: ProxyConfiguration
    private let words: [String]
    private let folder: TemporaryFolder
    /// The process, or `nil` while the proxy does not run.
    private let process = Mutex<ChildProcess?>(nil)

    /// Starts a proxy, and returns when it accepts connections.
    ///
    /// - Parameters:
    ///   - kind: The protocol of the proxy.
    ///   - user: The user name that the proxy requires. If it is `nil`, the proxy requires none.
    ///   - password: The password of that user.
    ///   - allowedPort: The only port that an HTTP proxy connects to. If it is `nil`, all ports are allowed.
    /// - Throws: ``StartFailure`` with the output of the proxy.
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

    /// The maximum number of attempts to start. The port was free when it was chosen, but another process may hold it
    /// for a moment.
    private static let startLimit = 100

    /// Starts the proxy, and returns when it accepts connections.
    package func start() async throws {
        for attempt in 1... {
            guard let words = try await run() else { return }
            guard attempt < Self.startLimit, words.contains("in use") else {
                throw StartFailure(description: "\(self.words[0]) does not run on port \(port): \(words)")
            }
            try await Task.sleep(for: .milliseconds(50))  // Polls, because no event reports that the port is free.
        }
    }

    /// Starts the proxy. Returns `nil` when it accepts connections, or its output if it ended before.
    private func run() async throws -> String? {
        let child = try ChildProcess(words)
        process.withLock { $0 = child }
        let said = Mutex<[UInt8]?>(nil)
        // The output is read to its end, so that the program never blocks on a full buffer.
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
                // Neither program reports when it is ready, so the port must be polled.
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

    /// Kills the proxy, which closes the connections through it. Returns when the proxy has ended.
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
