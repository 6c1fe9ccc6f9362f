import CommandArguments

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// Runs another program and waits for its end.
enum ChildProgram {
    /// The search path if `PATH` is not set.
    private static let defaultPath = "/usr/local/bin:/usr/bin:/bin"

    /// Runs a program with empty input. Its error output is written to the file at `path`, and its standard output is
    /// discarded.
    ///
    /// - Returns: The exit status of the program, or 128 plus the signal number if a signal ended it.
    /// - Throws: ``ArgumentError`` if the program cannot be started.
    static func run(_ words: [String], errorsTo path: String) throws(ArgumentError) -> Int32 {
        #if canImport(Darwin)
            var actions: posix_spawn_file_actions_t?
        #else
            var actions = posix_spawn_file_actions_t()
        #endif
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 2, path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        #if canImport(Darwin)
            let environment = _NSGetEnviron().pointee
        #else
            let environment = environ
        #endif
        var started: pid_t = 0
        var result = ENOENT
        let path = getenv("PATH").map { String(cString: $0) } ?? defaultPath
        for folder in path.split(separator: ":") where result != 0 {
            result = posix_spawn(&started, "\(folder)/\(words[0])", &actions, nil, &arguments, environment)
        }
        guard result == 0 else {
            throw ArgumentError(
                "\(words[0]) cannot be run: \(SystemError(number: result).text)",
                hint: "Install the program: apt install protobuf-compiler.")
        }
        var status: Int32 = 0
        while waitpid(started, &status, 0) < 0, errno == EINTR {}
        return status & 0x7F == 0 ? (status >> 8) & 0xFF : 128 + status & 0x7F
    }
}
