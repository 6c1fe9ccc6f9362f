import Glibc
import Synchronization

/// A program that runs during a test. It is killed when this object is released, if it still runs.
///
/// (Foundation's `Process` is not used. It reads out of bounds when it searches for open descriptors, so the address
/// sanitizer ends the run. Its children also inherit a signal mask that may block SIGTERM, so that they cannot be
/// stopped in order.)
package final class ChildProcess: Sendable {
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
        package init(description: String) { self.description = description }
    }

    /// The descriptor that reads the program's standard output and standard error.
    private let output: Int32
    /// The process id, or `nil` after the process was waited for.
    private let process: Mutex<pid_t?>

    /// Starts the program `words[0]` with the other words as its arguments. Its standard input is `inputFile`.
    package init(_ words: [String], inputFile: String = "/dev/null") throws {
        // A socket pair is used in place of a pipe, because it is created with SOCK_CLOEXEC, so that no other child
        // inherits it.
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

    /// The process id, or `nil` after the process was waited for.
    package var id: Int32? { process.withLock { $0 } }

    /// Waits for the next bytes of the output. Returns no bytes at the end.
    package func read() -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 4_096)
        while true {
            let count = Glibc.read(output, &bytes, bytes.count)
            if count < 0, errno == EINTR { continue }
            return Array(bytes.prefix(max(0, count)))
        }
    }

    /// Sends `signal` if the program still runs, and waits until it ends.
    ///
    /// The signal is repeated until the program ends. mosquitto reports that it is running before it handles signals,
    /// and ignores a signal in between.
    package func end(by signal: Int32) {
        guard let running = process.withLock({ $0.take() }) else { return }
        kill(running, signal)
        // The output may stay open after the program's end, because the program's own children may still have it open.
        while waitpid(running, nil, WNOHANG) == 0 {
            if hasClosedOutput(within: Self.signalInterval) {
                Self.wait(for: running)
                return
            }
            kill(running, signal)
        }
    }

    /// The time that a program has to end after a signal, before the signal is sent again.
    private static let signalInterval: Int32 = 100  // milliseconds

    private func hasClosedOutput(within milliseconds: Int32) -> Bool {
        var end = pollfd(fd: output, events: 0, revents: 0)
        return poll(&end, 1, milliseconds) > 0
    }

    /// Waits until the program ends, and returns its wait status.
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

    /// Runs a program to its end, and returns its output. Throws if its status is not 0.
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
