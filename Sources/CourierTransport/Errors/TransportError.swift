/// Why a connection could not be made or was lost, or why the transport refuses a configuration.
///
/// ``code`` is for a `switch`, ``message`` for a person: it names the peer and, where there is one, the remedy. Neither
/// ever holds a secret.
///
/// ```swift
/// catch let error as TransportError where error.code == .connectionRefused {
///     print(error)  // connection refused: 127.0.0.1:1883; nothing listens there
/// }
/// ```
public struct TransportError: Error, Hashable, Sendable {
    /// What kind of failure this is.
    public let code: Code

    /// One sentence without a full stop at its end.
    public let message: String

    /// The error number of the operating system, where it was the system that failed.
    public let errno: Int32?

    /// Makes an error of `code` that says `message`, with the operating system's error number where there is one.
    public init(_ code: Code, _ message: String, errno: Int32? = nil) {
        self.code = code
        self.message = message
        self.errno = errno
    }
}

extension TransportError: CustomStringConvertible {
    /// The same text as ``message``.
    public var description: String { message }
}
