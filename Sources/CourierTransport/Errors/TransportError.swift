/// An error of the transport: a connection could not be opened or was lost, or a configuration was refused.
///
/// ``code`` is for a `switch`. ``message`` is for people: it names the peer and, if known, how to fix the problem. The
/// code and the message never contain a secret.
///
/// ```swift
/// catch let error as TransportError where error.code == .connectionRefused {
///     print(error)  // connection refused: 127.0.0.1:1883; is the server running there?
/// }
/// ```
public struct TransportError: Error, Hashable, Sendable {
    /// The kind of failure.
    public let code: Code

    /// The description of the failure: one sentence without a full stop at its end.
    public let message: String

    /// The operating system's error number, if the failure was reported by the system.
    public let errno: Int32?

    /// Creates an error with a code, a message and, if there is one, the operating system's error number.
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
