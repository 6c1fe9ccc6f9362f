import Glibc

/// Runs this program in a new process, so that the memory and CPU time of each run can be measured separately.
package enum OwnProcess {
    /// Runs this program with the arguments. Returns its standard output, or an empty string if it failed. Standard
    /// error is inherited.
    package static func output(of arguments: [String]) throws -> String {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw Failure("no pipe: \(String(cString: strerror(errno)))") }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO)
        posix_spawn_file_actions_addclose(&actions, ends[0])
        posix_spawn_file_actions_addclose(&actions, ends[1])
        let words = ([CommandLine.arguments.first ?? "benchmark"] + arguments).map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        var process = pid_t()
        let error = posix_spawn(&process, "/proc/self/exe", &actions, nil, words, environ)
        close(ends[1])
        guard error == 0 else {
            close(ends[0])
            throw Failure("cannot run itself: \(String(cString: strerror(error)))")
        }
        var bytes: [UInt8] = []
        if let file = fdopen(ends[0], "r") {
            while case let byte = getc(file), byte != EOF { bytes.append(UInt8(truncatingIfNeeded: byte)) }
            fclose(file)
        }
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
        return status == 0 ? String(decoding: bytes, as: UTF8.self) : ""
    }

    /// Prints a failure to standard error.
    package static func report(_ failure: String) {
        let line = Array("bench: \(failure)\n".utf8)
        _ = write(STDERR_FILENO, line, line.count)
    }
}
