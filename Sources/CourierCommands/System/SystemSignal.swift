#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// The numbers of the signals that the commands handle.
enum SystemSignal {
    /// Ctrl-C on the terminal.
    static let interrupt = SIGINT
    /// A request to end.
    static let termination = SIGTERM
    /// The terminal was closed.
    static let hangUp = SIGHUP
    /// Ctrl-Z on the terminal.
    static let terminalStop = SIGTSTP
    /// The process continues after it was stopped.
    static let continuation = SIGCONT
    /// The size of the terminal has changed.
    static let windowChange = SIGWINCH

    /// The process wrote to a pipe or connection whose reader has closed it.
    static let brokenPipe = SIGPIPE

    /// The signals that end a command normally.
    static let endings = [interrupt, termination]

    /// Prevents the default effect of a signal that a Dispatch source receives. On Linux, the source itself does this.
    static func suppressDefaultEffect(of number: Int32) {
        #if canImport(Darwin)
            ignore(number)
        #endif
    }

    /// Makes the process ignore a signal.
    static func ignore(_ number: Int32) { signal(number, SIG_IGN) }
}
