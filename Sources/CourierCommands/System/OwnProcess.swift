#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// The process that runs this program.
package enum OwnProcess {
    /// The process id.
    static var id: Int32 { getpid() }

    /// True if the process is a session leader, so that no shell could continue the process after it was stopped.
    static var isSessionLeader: Bool { getsid(0) == getpid() }

    /// Stops the process until another process continues it.
    static func stop() { kill(getpid(), SIGSTOP) }

    /// Ends the process.
    ///
    /// - Parameter exitCode: The exit code of the process.
    package static func end(_ exitCode: Int32) -> Never { exit(exitCode) }
}
