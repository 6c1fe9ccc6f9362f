package import CourierTransport
import Foundation
import Synchronization

/// A real mosquitto on its own port of 127.0.0.1. Tests can stop, kill and restart it.
package final class RealBroker: Sendable {
    package static let program = "/usr/sbin/mosquitto"

    package struct StartFailure: Error, CustomStringConvertible {
        package let description: String
    }

    package let port: UInt16
    private let folder: TemporaryFolder
    /// The process, or `nil` while mosquitto does not run.
    private let process = Mutex<ChildProcess?>(nil)

    /// Starts mosquitto. Returns when it listens on its port, and on the Unix socket `socketPath` if one is given.
    ///
    /// If `persists` is true, its sessions survive ``restart()``. `settings` are additional settings of the port, such
    /// as its certificate.
    package init(persists: Bool = false, settings: String = "", socketPath: String? = nil) async throws {
        folder = try TemporaryFolder()
        port = try LocalPort.free()
        // The socket must be first. mosquitto opens the listeners in this order, so when the port answers, the socket
        // does too.
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

    /// The process id, or `nil` while mosquitto does not run.
    package var processID: Int32? { process.withLock { $0 }?.id }

    /// Starts mosquitto. Returns when its output says that it is running.
    package func start() async throws {
        let child = try ChildProcess([Self.program, "-c", folder.file("mosquitto.conf")])
        process.withLock { $0 = child }
        if let lastWords = await child.lastWords(before: " running") {
            throw StartFailure(description: "mosquitto does not run on port \(port): \(lastWords)")
        }
    }

    private var storage: String { folder.file("mosquitto.db") }

    /// Stops mosquitto in order and waits for its end. Returns true if it has stored its sessions. If it has not,
    /// because it crashed at the end, its stored sessions are deleted, as after ``kill()``.
    @discardableResult
    package func stop() async -> Bool {
        let before = Self.stamp(of: storage)
        await end(by: SIGTERM)
        if let after = Self.stamp(of: storage), after != before { return true }
        forget()
        return false
    }

    /// Kills mosquitto, waits for its end, and deletes its stored sessions. The stored file is from the last orderly
    /// stop. With that old state, the broker would treat a new message as a duplicate of an old one with the same
    /// packet id.
    package func kill() async {
        await end(by: SIGKILL)
        forget()
    }

    private func forget() { try? FileManager.default.removeItem(atPath: storage) }

    /// Returns a value that changes whenever the file is replaced. mosquitto writes a new file and renames it.
    private static func stamp(of path: String) -> [Int]? {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        return [Int(status.st_ino), status.st_mtim.tv_sec, status.st_mtim.tv_nsec]
    }

    /// Kills mosquitto permanently, and deletes its folder.
    package func remove() async {
        await kill()
        folder.remove()
    }

    /// Stops mosquitto in order, and starts it again on the same port.
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
