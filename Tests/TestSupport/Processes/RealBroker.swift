package import CourierTransport
import Foundation
import Synchronization

/// A real mosquitto on a port of 127.0.0.1 of its own, which is stopped, killed and started again as the test says.
package final class RealBroker: Sendable {
    package static let program = "/usr/sbin/mosquitto"

    package struct StartFailure: Error, CustomStringConvertible {
        package let description: String
    }

    package let port: UInt16
    private let folder: TemporaryFolder
    /// `nil` while it does not run.
    private let process = Mutex<ChildProcess?>(nil)

    /// Starts mosquitto and returns when it listens, also at the Unix socket `socketPath` if there is one; with `persists`,
    /// its sessions survive ``restart()``. The `settings` are those of the port, such as its certificate.
    package init(persists: Bool = false, settings: String = "", socketPath: String? = nil) async throws {
        folder = try TemporaryFolder()
        port = try LocalPort.free()
        // In this order: when the port answers, the socket does.
        let configuration = """
            \(socketPath.map { "listener 0 \($0)" } ?? "")
            listener \(port) 127.0.0.1
            allow_anonymous true
            user root
            log_dest stderr
            max_queued_messages 0
            persistence \(persists)
            persistence_location \(folder.path)/
            autosave_interval 0
            \(settings)
            """
        try configuration.write(toFile: folder.file("mosquitto.conf"), atomically: true, encoding: .utf8)
        try await start()
    }

    deinit { process.withLock { $0 }?.end(by: SIGKILL) }

    package var endpoint: TransportEndpoint { .tcp(host: "127.0.0.1", port: port) }

    /// Its process id; `nil` while it does not run.
    package var processID: Int32? { process.withLock { $0 }?.id }

    /// Runs mosquitto and returns when it says that it is running.
    package func start() async throws {
        let child = try ChildProcess([Self.program, "-c", folder.file("mosquitto.conf")])
        process.withLock { $0 = child }
        if let lastWords = await child.lastWords(before: " running") {
            throw StartFailure(description: "mosquitto does not run on port \(port): \(lastWords)")
        }
    }

    private var storage: String { folder.file("mosquitto.db") }

    /// Stops it in order and returns when it has ended, and whether it has stored its sessions. One that has not, because
    /// it crashed at the end, comes back without memory like one that was killed.
    @discardableResult
    package func stop() async -> Bool {
        let before = Self.stamp(of: storage)
        await end(by: SIGTERM)
        if let after = Self.stamp(of: storage), after != before { return true }
        forget()
        return false
    }

    /// Ends it without warning and returns when it has ended. It comes back without memory: the file that the last orderly
    /// stop wrote is of another time, and a broker that continued from it would take new messages for old ones of the same
    /// packet id.
    package func kill() async {
        await end(by: SIGKILL)
        forget()
    }

    private func forget() { try? FileManager.default.removeItem(atPath: storage) }

    /// What changes whenever the file is written anew: mosquitto writes another one and gives it the name.
    private static func stamp(of path: String) -> [Int]? {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        return [Int(status.st_ino), status.st_mtim.tv_sec, status.st_mtim.tv_nsec]
    }

    /// Ends it for good, and removes what it stored.
    package func remove() async {
        await kill()
        folder.remove()
    }

    /// Stops it in order and starts it again on the same port.
    package func restart() async throws {
        await stop()
        try await start()
    }

    private func end(by signal: Int32) async {
        guard let child = process.withLock({ $0.take() }) else { return }
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                child.end(by: signal)
                continuation.resume()
            }
        }
    }
}
