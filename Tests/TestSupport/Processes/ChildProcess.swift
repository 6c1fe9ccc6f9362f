import Glibc
import Synchronization

/// A program that runs beside the test and ends with this object at the latest.
///
/// (Foundation's `Process` reads out of bounds when it looks for open descriptors, which the address sanitizer ends the
/// run for; and its children inherit the mask of a thread that blocks SIGTERM, so that they cannot be stopped in order.)
package final class ChildProcess: Sendable {
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
        package init(description: String) { self.description = description }
    }

    /// What it says, on standard output and standard error.
    private let output: Int32
    /// `nil` once it was waited for.
    private let process: Mutex<pid_t?>

    /// Starts the program `words[0]` with the other words as its arguments; it reads from `inputFile`.
    package init(_ words: [String], inputFile: String = "/dev/null") throws {
        // A pair of sockets where a pipe would do: no other child can inherit them, from the first moment on.
        var ends: [Int32] = [-1, -1]
        guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
            throw Failure(description: "no descriptors for \(words): \(String(cString: strerror(errno)))")
        }
        defer { close(ends[1]) }

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
        posix_spawn_file_actions_addopen(&actions, 0, inputFile, O_RDONLY, 0)
        for descriptor in [1, 2] as [Int32] { posix_spawn_file_actions_adddup2(&actions, ends[1], descriptor) }

        var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        var started: pid_t = 0
        let result = posix_spawnp(&started, words[0], &actions, &attributes, &arguments, environ)
        guard result == 0 else {
            close(ends[0])
            throw Failure(description: "\(words[0]) can not be started: \(String(cString: strerror(result)))")
        }
        output = ends[0]
        process = Mutex(started)
    }

    deinit {
        end(by: SIGKILL)
        close(output)
    }

    /// Its process id; `nil` once it was waited for.
    package var id: Int32? { process.withLock { $0 } }

    /// Waits for the next bytes it says; empty at the end.
    package func read() -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 4_096)
        while true {
            let count = Glibc.read(output, &bytes, bytes.count)
            if count < 0, errno == EINTR { continue }
            return Array(bytes.prefix(max(0, count)))
        }
    }

    /// Sends `signal` if it still runs, and waits for its end.
    ///
    /// It is sent until it is heard: mosquitto says that it runs a moment before it does, and forgets what it is sent in
    /// between.
    package func end(by signal: Int32) {
        guard let running = process.withLock({ $0.take() }) else { return }
        kill(running, signal)
        // What it has started may keep the output open behind it.
        while waitpid(running, nil, WNOHANG) == 0 {
            if hasClosedOutput(within: Self.signalInterval) {
                Self.wait(for: running)
                return
            }
            kill(running, signal)
        }
    }

    /// How long a program has to end by a signal before it gets it again.
    private static let signalInterval: Int32 = 100  // milliseconds

    private func hasClosedOutput(within milliseconds: Int32) -> Bool {
        var end = pollfd(fd: output, events: 0, revents: 0)
        return poll(&end, 1, milliseconds) > 0
    }

    /// Waits for its end, and returns its status.
    @discardableResult
    package func waitForEnd() -> Int32 {
        guard let running = process.withLock({ $0.take() }) else { return 0 }
        return Self.wait(for: running)
    }

    @discardableResult
    private static func wait(for running: pid_t) -> Int32 {
        var status: Int32 = 0
        while waitpid(running, &status, 0) < 0, errno == EINTR {}
        return status
    }

    /// Runs a program to its end, and returns what it said; a failure when its status is not 0.
    @discardableResult
    package static func run(_ words: [String], inputFile: String = "/dev/null") throws -> [UInt8] {
        let process = try ChildProcess(words, inputFile: inputFile)
        var said: [UInt8] = []
        while true {
            let part = process.read()
            if part.isEmpty { break }
            said += part
        }
        guard process.waitForEnd() == 0 else {
            throw Failure(description: "\(words): \(String(decoding: said, as: UTF8.self))")
        }
        return said
    }
}
