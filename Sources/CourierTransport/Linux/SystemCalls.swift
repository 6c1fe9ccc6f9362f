import CLinux
import Glibc

/// The operating-system calls that streams use often. A test replaces them to simulate short reads and writes, and
/// interruptions.
///
/// Each closure returns the call's result, or a negative error number. All connections share one instance.
final class SystemCalls: Sendable {
    typealias Read = @Sendable (Int32, UnsafeMutableRawPointer, Int) -> Int
    typealias Write = @Sendable (Int32, UnsafeRawPointer, Int) -> Int

    let receive: Read
    let send: Write
    let read: Read
    let write: Write
    let accept: @Sendable (Int32) -> Int32
    let connect: @Sendable (Int32, UnsafeRawPointer, UInt32) -> Int32
    /// True if a read that returns fewer bytes than requested proves that the socket is empty, as epoll(7) promises
    /// (question 9). This saves one call per wake-up. Tests that shorten reads must set `false`.
    let shortReadsEmptySockets: Bool

    /// Creates an instance. Each call is the real call, unless a parameter replaces it.
    init(
        receive: @escaping Read = { courier_recv($0, $1, $2) },
        send: @escaping Write = { courier_send($0, $1, $2) },
        read: @escaping Read = { courier_read($0, $1, $2) },
        write: @escaping Write = { courier_write($0, $1, $2) },
        accept: @escaping @Sendable (Int32) -> Int32 = { courier_accept($0) },
        connect: @escaping @Sendable (Int32, UnsafeRawPointer, UInt32) -> Int32 = { courier_connect($0, $1, $2) },
        shortReadsEmptySockets: Bool = true
    ) {
        self.receive = receive
        self.send = send
        self.read = read
        self.write = write
        self.accept = accept
        self.connect = connect
        self.shortReadsEmptySockets = shortReadsEmptySockets
    }

    static let real = SystemCalls()
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
                .tooManyDescriptors, "too many open descriptors: \(what); raise the limit (ulimit -n) or open fewer")
        case EADDRINUSE: return error(.addressInUse, "address in use: \(what); another process listens there")
        case ENOENT: return error(.socketNotFound, "no such socket: \(what); is the server running?")
        case EBADF: return error(.invalidDescriptor, "not an open descriptor: \(what)")
        default: return error(.systemFailure, "\(what): \(describe(errno: number))")
        }
    }

    /// True if the error `number` means that the system has no descriptor or memory left. This may be temporary.
    static func isShortage(_ number: Int32) -> Bool {
        switch number {
        case EMFILE, ENFILE, ENOMEM, ENOBUFS, ENOSPC: true
        default: false
        }
    }
}
