#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// An error that the operating system reported.
struct SystemError: Error, Hashable, Sendable {
    /// The error number, as in `errno`.
    let number: Int32

    /// The error of the system call that has just failed on the calling thread.
    static var last: SystemError { SystemError(number: errno) }

    /// A file with this name exists already.
    static let exists = SystemError(number: EEXIST)
    /// A message or line is longer than its limit.
    static let tooLong = SystemError(number: EMSGSIZE)
    /// A signal interrupted the system call.
    static let interrupted = SystemError(number: EINTR)
    /// A non-blocking descriptor is not ready.
    static let notReady = SystemError(number: EAGAIN)

    /// True if the other end of a pipe or connection is closed.
    var isClosedByPeer: Bool { number == EPIPE || number == ECONNRESET }

    /// The system's text for the error.
    var text: String { String(cString: strerror(number)) }
}
