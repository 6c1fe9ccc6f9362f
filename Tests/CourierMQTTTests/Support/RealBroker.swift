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

    /// Runs mosquitto and returns when it says that it is running.
    private func start() async throws {
        let (child, log) = try Self.spawn(["/usr/sbin/mosquitto", "-c", folder.path() + "/mosquitto.conf"])
        process.withLock { $0 = child }
        let isRunning = await withCheckedContinuation { continuation in
            Thread.detachNewThread { Self.read(log) { continuation.resume(returning: $0) } }
        }
        guard isRunning else { throw StartFailure(port: port) }
    }

    /// Reads what mosquitto logs to its end, so that it never waits for a reader, and tells once whether it runs.
    private static func read(_ log: Int32, _ tell: (Bool) -> Void) {
        defer { close(log) }
        var text: [UInt8] = []
        var hasTold = false
        var bytes = [UInt8](repeating: 0, count: 4_096)
        while true {
            let count = Glibc.read(log, &bytes, bytes.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { break }
            if hasTold { continue }
            text += bytes[..<count]
            guard String(decoding: text, as: UTF8.self).contains(" running") else { continue }
            hasTold = true
            tell(true)
        }
        if !hasTold { tell(false) }
    }

    /// Starts a program with no signal blocked: a child of Foundation's `Process` inherits the mask of a thread that blocks
    /// SIGTERM, and then cannot be stopped in order.
    ///
    /// - Returns: The process, and where its errors can be read.
    private static func spawn(_ words: [String]) throws -> (pid_t, Int32) {
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
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw StartFailure(port: 0) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        defer { close(ends[1]) }
        posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, ends[1], 2)
        var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        var process: pid_t = 0
        guard posix_spawn(&process, words[0], &actions, &attributes, &arguments, environ) == 0 else {
            close(ends[0])
            throw StartFailure(port: 0)
        }
        return (process, ends[0])
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

    /// Where the search for the next port begins.
    private static let portOffset = Atomic<Int>(Int(getpid()) * 37)

    /// A port that no other server of this process gets, and that no outgoing connection takes meanwhile: it is below those
    /// that the system gives away by itself (`net.ipv4.ip_local_port_range`).
    private static func freePort() throws -> UInt16 {
        for _ in 0..<1_000 {
            let candidate = UInt16(20_000 + portOffset.add(1, ordering: .relaxed).newValue % 12_000)
            let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            defer { close(descriptor) }
            var address = address(candidate)
            let isFree = withUnsafePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
                }
            }
            if isFree { return candidate }
        }
        throw StartFailure(port: 0)
    }
}
