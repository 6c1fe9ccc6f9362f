import CLinux
import Glibc

/// A process of the `openssl` command. (Foundation's `Process` reads out of bounds when it looks for open descriptors,
/// which the address sanitizer ends the run for.)
final class Command {
    struct Failure: Error, CustomStringConvertible { let description: String }

    private var process: pid_t = 0
    private var output: Int32 = -1

    /// Starts `openssl` with `arguments`; it reads from `inputFile`, and what it says can be read here.
    init(openssl arguments: [String], inputFile: String = "/dev/null", isQuiet: Bool = false) throws {
        var pipe: [Int32] = [0, 0]
        guard courier_pipe(&pipe) == 0 else { throw Failure(description: "no pipe") }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, inputFile, O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, pipe[1], 1)
        if isQuiet {
            posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
        } else {
            posix_spawn_file_actions_adddup2(&actions, pipe[1], 2)
        }
        var words: [UnsafeMutablePointer<CChar>?] = (["openssl"] + arguments).map { strdup($0) }
        words.append(nil)
        let result = posix_spawnp(&process, "openssl", &actions, nil, &words, environ)
        for word in words { free(word) }
        close(pipe[1])
        output = pipe[0]
        guard result == 0 else { throw Failure(description: "openssl did not start: \(result)") }
    }

    /// The next bytes it says; empty at the end.
    func read() -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = Glibc.read(output, &bytes, bytes.count)
        return Array(bytes.prefix(max(0, count)))
    }

    /// Kills it, if it still runs, and waits for its end; the status.
    @discardableResult
    func end(kills: Bool) -> Int32 {
        guard process != 0 else { return 0 }
        if kills { kill(process, SIGKILL) }
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
        process = 0
        return status
    }

    deinit {
        end(kills: true)
        close(output)
    }

    /// Runs `openssl` to its end; what it said.
    @discardableResult
    static func openssl(_ arguments: [String], inputFile: String = "/dev/null", isQuiet: Bool = false) throws -> [UInt8]
    {
        let command = try Command(openssl: arguments, inputFile: inputFile, isQuiet: isQuiet)
        var said: [UInt8] = []
        while true {
            let part = command.read()
            if part.isEmpty { break }
            said += part
        }
        let status = command.end(kills: false)
        guard status == 0 else {
            throw Failure(description: "openssl \(arguments): \(String(decoding: said, as: UTF8.self))")
        }
        return said
    }
}
