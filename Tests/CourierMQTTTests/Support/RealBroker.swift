import CourierTransport
import Foundation
import Synchronization
import Testing

/// A real mosquitto on a free port of 127.0.0.1, started and stopped by the test.
final class RealBroker: Sendable {
    let port: UInt16
    private let folder: URL
    private let process: Mutex<pid_t?>

    /// Starts mosquitto and returns when it listens, also at the Unix socket `socketPath` if there is one; with `persists`,
    /// its sessions survive ``restart()``. The `settings` are those of the port, such as its certificate.
    init(persists: Bool = false, settings: String = "", socketPath: String? = nil) async throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "courier-mosquitto-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        port = try Self.freePort()
        // In this order: when the port answers, the socket does.
        let configuration = """
            \(socketPath.map { "listener 0 \($0)" } ?? "")
            listener \(port) 127.0.0.1
            allow_anonymous true
            user root
            log_dest stderr
            max_queued_messages 0
            persistence \(persists)
            persistence_location \(folder.path())/
            autosave_interval 0
            \(settings)
            """
        try configuration.write(to: folder.appending(path: "mosquitto.conf"), atomically: true, encoding: .utf8)
        process = Mutex(nil)
        try await start()
    }

    deinit {
        if let running = process.withLock({ $0 }) { Self.end(running, SIGKILL) }
        try? FileManager.default.removeItem(at: folder)
    }

    var endpoint: TransportEndpoint { .tcp(host: "127.0.0.1", port: port) }

    /// Stops it in order, with its sessions stored if it persists, and starts it again on the same port.
    func restart() async throws {
        await stop()
        try await start()
    }

    /// Stops it in order and returns when it has ended.
    func stop() async {
        let running = process.withLock { process in
            defer { process = nil }
            return process
        }
        guard let running else { return }
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                Self.end(running, SIGTERM)
                continuation.resume()
            }
        }
    }

    private static func end(_ process: pid_t, _ signal: Int32) {
        kill(process, signal)
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
    }

    /// Runs mosquitto and knocks at its port until it answers.
    private func start() async throws {
        try process.withLock { $0 = try Self.spawn(["/usr/sbin/mosquitto", "-c", folder.path() + "/mosquitto.conf"]) }
        let deadline = ContinuousClock.now.advanced(by: .seconds(20))
        while !Self.answers(port) {
            guard ContinuousClock.now < deadline else { throw StartFailure(port: port) }
            await Task.yield()
        }
    }

    /// Starts a program with no signal blocked: a child of Foundation's `Process` inherits the mask of a thread that blocks
    /// SIGTERM, and then cannot be stopped in order.
    private static func spawn(_ words: [String]) throws -> pid_t {
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for descriptor in [1, 2] as [Int32] {
            posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_WRONLY, 0)
        }
        var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        var process: pid_t = 0
        guard posix_spawn(&process, words[0], &actions, &attributes, &arguments, environ) == 0 else {
            throw StartFailure(port: 0)
        }
        return process
    }

    struct StartFailure: Error {
        let port: UInt16
    }

    private static func address(_ port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        return address
    }

    private static func answers(_ port: UInt16) -> Bool {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = address(port)
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
    }

    /// A port that was free a moment ago.
    private static func freePort() throws -> UInt16 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = address(0)
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, size) == 0 && getsockname(descriptor, $0, &size) == 0
            }
        }
        try #require(isBound)
        return UInt16(bigEndian: address.sin_port)
    }
}
