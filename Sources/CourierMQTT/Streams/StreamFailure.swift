import CourierTransport
import Foundation

/// From the failures of Foundation's streams to ours.
enum StreamFailure {
    /// Why `stream` failed. Of a foreign error only its domain and code are told, as its text may hold secrets.
    ///
    /// - Parameters:
    ///   - stream: A stream whose last call failed.
    ///   - action: What it failed at, such as `reading from`.
    ///   - name: What the peer is called.
    /// - Returns: An error that tells what failed and, where the stream says so, why.
    static func error(of stream: Stream, _ action: String, _ name: String) -> TransportError {
        // Without an error, asking for it would trap outside Apple's systems.
        guard stream.streamStatus == .error, let error = stream.streamError as NSError? else {
            return TransportError(.brokenPipe, "\(action) \(name) failed, and the stream gives no reason")
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
