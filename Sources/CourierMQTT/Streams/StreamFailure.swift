import CourierTransport
import Foundation

/// Converts failures of Foundation's streams to transport errors.
enum StreamFailure {
    /// Returns the error of a failed stream. If the stream's error is not a POSIX error, the returned error contains
    /// only its domain and code. Its text is left out, because it may contain secrets.
    ///
    /// - Parameters:
    ///   - stream: A stream whose last call failed.
    ///   - action: The failed action, such as `reading from`.
    ///   - name: The name of the peer.
    /// - Returns: An error with the action, and with the reason if the stream has one.
    static func error(of stream: Stream, _ action: String, _ name: String) -> TransportError {
        // Outside Apple's systems, `streamError` traps if the stream has no error.
        guard stream.streamStatus == .error, let error = stream.streamError as NSError? else {
            return TransportError(.brokenPipe, "\(action) \(name) failed, and the stream reports no reason")
        }
        guard error.domain == NSPOSIXErrorDomain, let number = Int32(exactly: error.code) else {
            return TransportError(.systemFailure, "\(action) \(name) failed: \(error.domain), code \(error.code)")
        }
        return TransportError(
            code(number), "\(action) \(name) failed: \(String(cString: strerror(number)))", errno: number)
    }

    private static func code(_ number: Int32) -> TransportError.Code {
        switch number {
        case EPIPE: .brokenPipe
        case ECONNRESET: .reset
        case ETIMEDOUT: .timedOut
        case ENOENT: .socketNotFound
        case EACCES, EPERM: .permissionDenied
        default: .systemFailure
        }
    }
}
