#if canImport(Glibc)
    import CLinux
    import Glibc
#elseif canImport(Musl)
    import CLinux
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// The error numbers of the operating system that this target handles specially.
enum ErrorNumber {
    static var again: Int32 { EAGAIN }
    static var addressNotAvailable: Int32 { EADDRNOTAVAIL }
    static var alreadyConnecting: Int32 { EALREADY }
    static var brokenPipe: Int32 { EPIPE }
    static var connectionAborted: Int32 { ECONNABORTED }
    static var connectionReset: Int32 { ECONNRESET }
    static var inProgress: Int32 { EINPROGRESS }
    static var interrupted: Int32 { EINTR }
    static var noAccess: Int32 { EACCES }
    static var noEntry: Int32 { ENOENT }
    static var noDevice: Int32 { ENODEV }
    static var notPermitted: Int32 { EPERM }
    static var protocolError: Int32 { EPROTO }
}

/// Returns the operating system's description of an error number.
func describe(errno number: Int32) -> String {
    var buffer = [CChar](repeating: 0, count: 128)
    return buffer.withUnsafeMutableBufferPointer { space in
        guard let base = space.baseAddress else { return "error \(number)" }
        return strerror_r(number, base, space.count) == 0 ? String(cString: base) : "error \(number)"
    }
}

extension TransportError {
    /// Returns the error of a connection for the operating system's error `number`. `what` names the object that
    /// failed, such as `127.0.0.1:1883`.
    static func system(_ number: Int32, _ what: String) -> TransportError {
        func error(_ code: Code, _ sentence: String) -> TransportError {
            TransportError(code, sentence, errno: number)
        }
        switch number {
        case ECONNREFUSED:
            return error(
                .connectionRefused, "connection refused: \(what); is the server running there?")
        case ETIMEDOUT: return error(.timedOut, "connection timed out: \(what) no longer answers")
        case ENETUNREACH, EHOSTUNREACH, ENETDOWN, EHOSTDOWN, EADDRNOTAVAIL:
            return error(.unreachable, "unreachable: \(what) (\(describe(errno: number))); is there a network?")
        case ECONNRESET: return error(.reset, "connection reset: \(what)")
        case EPIPE: return error(.brokenPipe, "connection closed: \(what) no longer reads")
        case EACCES, EPERM:
            return error(.permissionDenied, "permission denied: \(what) (\(describe(errno: number)))")
        case EMFILE, ENFILE:
            return error(
                .tooManyDescriptors,
                "too many open descriptors: \(what); raise the limit (ulimit -n) or open fewer descriptors")
        case EADDRINUSE: return error(.addressInUse, "address in use: \(what); another process listens there")
        case ENOENT: return error(.socketNotFound, "no such socket: \(what); is the server running?")
        case EBADF: return error(.invalidDescriptor, "not an open descriptor: \(what)")
        default: return error(.systemFailure, "\(what): \(describe(errno: number))")
        }
    }

    /// True if the error `number` means that the system has no descriptor or memory left. Such an error may be
    /// temporary.
    static func isShortage(_ number: Int32) -> Bool {
        switch number {
        case EMFILE, ENFILE, ENOMEM, ENOBUFS, ENOSPC: true
        default: false
        }
    }
}
