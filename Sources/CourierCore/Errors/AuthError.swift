public import Foundation

/// The reason why a connection service provider returns no ``ConnectOptions``.
///
/// The reason decides how soon the client asks the provider again. After an HTTP status of 400 to 499, the client waits
/// longer, because the same request would fail again. After any other error, the client asks sooner. These errors mean
/// "no network": `NSURLErrorDomain` −1009, −1018, −1019 and −1020, and POSIX `ENETDOWN` and `ENETUNREACH`. On Linux,
/// `URLSession` never reports the four errors of `NSURLErrorDomain`.
public enum AuthError: Error, Sendable {
    /// The credential service answered with this HTTP status.
    case httpError(statusCode: Int)

    /// Any other failure, for example a network error of `URLSession`.
    case otherError(NSError)
}

extension AuthError: CustomStringConvertible, LocalizedError {
    /// A text with the HTTP status, the failure that `URLSession` reported, or the domain and code of another error.
    /// The text contains nothing from `userInfo`, which may hold secrets, except the scheme, host and port of the URL.
    public var description: String {
        switch self {
        case .httpError(let statusCode): "the credential service answered with HTTP status \(statusCode)"
        case .otherError(let error):
            CredentialServiceFailure(error)?.description
                ?? "the credentials could not be fetched (\(error.domain), code \(error.code))"
        }
    }

    /// The same text as ``description``.
    public var errorDescription: String? { description }
}

extension AuthError: CustomDebugStringConvertible, CustomReflectable {
    /// The same text as ``description``.
    public var debugDescription: String { description }

    /// Shows the same text as ``description``, so that `dump` does not show the `userInfo` of the underlying error.
    public var customMirror: Mirror { Mirror(self, children: ["summary": description], displayStyle: .enum) }
}
