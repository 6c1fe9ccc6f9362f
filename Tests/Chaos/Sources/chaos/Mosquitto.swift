import Foundation
import Synchronization

/// A real mosquitto that is stopped in order, killed, and started again on the same port.
final class Mosquitto: Sendable {
    static let program = "/usr/sbin/mosquitto"

    struct StartFailure: Error, CustomStringConvertible {
        let description: String
    }

    let port: UInt16
    private let folder: URL
    private let process = Mutex<pid_t?>(nil)

    /// Starts mosquitto on a free port of 127.0.0.1, and returns when it listens.
    init() async throws {
        port = try Self.freePort()
        folder = FileManager.default.temporaryDirectory.appending(path: "courier-chaos-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        // It may not drop anything by itself: no limit on what waits for a client or is in flight.
        let configuration = """
            listener \(port) 127.0.0.1
            allow_anonymous true
            user root
            log_dest file \(folder.path())/log
            log_type error
            log_type warning
            max_queued_messages 0
            max_queued_bytes 0
            max_inflight_messages 0
            max_inflight_bytes 0
            set_tcp_nodelay true
            persistence true
            persistence_location \(folder.path())/
            autosave_interval 0
            """
        try configuration.write(to: folder.appending(path: "mosquitto.conf"), atomically: true, encoding: .utf8)
        try await start()
    }

    deinit {
        if let running = process.withLock({ $0 }) { Self.end(running, SIGKILL) }
        try? FileManager.default.removeItem(at: folder)
    }

    /// Its own resident memory in bytes, 0 when it does not run.
    var residentMemory: Int { process.withLock { $0 }.map { ResidentMemory.bytes(of: "\($0)") } ?? 0 }

    /// Ends it. After a kill it comes back without memory: the file that the last orderly stop wrote is of another time,
    /// and a broker that continued from it would take new messages for old ones of the same packet id.
    func end(_ kind: Outage.Kind) async {
        let running = process.withLock { process in
            defer { process = nil }
            return process
        }
        guard let running else { return }
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                Self.end(running, kind == .stop ? SIGTERM : SIGKILL)
                continuation.resume()
            }
        }
        if kind == .kill { try? FileManager.default.removeItem(at: folder.appending(path: "mosquitto.db")) }
    }

    private static func end(_ process: pid_t, _ signal: Int32) {
        kill(process, signal)
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
    }

    /// Runs mosquitto and knocks at its port until it answers.
    func start() async throws {
        let configuration = folder.path() + "/mosquitto.conf"
        let running = try Self.spawn([Self.program, "-c", configuration])
        process.withLock { $0 = running }
        let deadline = ContinuousClock.now.advanced(by: .seconds(20))
        while !Self.answers(port) {
            guard ContinuousClock.now < deadline else {
                throw StartFailure(description: "mosquitto does not listen on port \(port)")
            }
            try await Task.sleep(for: .milliseconds(5))
        }
    }

    /// Starts a program with no signal blocked: a child inherits the mask of a thread that blocks SIGTERM, and then
    /// cannot be stopped in order.
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
        let result = posix_spawn(&process, words[0], &actions, &attributes, &arguments, environ)
        guard result == 0 else {
            throw StartFailure(description: "\(words[0]) can not be started: \(String(cString: strerror(result)))")
        }
        return process
    }

    private static func address(_ port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        return address
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
        guard isBound else { throw StartFailure(description: "there is no free port for mosquitto") }
        return UInt16(bigEndian: address.sin_port)
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
}
