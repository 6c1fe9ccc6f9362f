public import Foundation

/// Why a connection service provider has no ``ConnectOptions`` to give.
///
/// The client decides by it how soon it asks again: an HTTP status in 400–499 means that asking again at once is
/// pointless, everything else is tried again sooner.
public enum AuthError: Error, Sendable {
    /// The credential service answered with this HTTP status.
    case httpError(statusCode: Int)

    /// Anything else, for example a network error of `URLSession`.
    case otherError(NSError)
}

extension AuthError: CustomStringConvertible, LocalizedError {
    /// The status, what happened to the credential service if `URLSession` says that, or the domain and code of the error
    /// beneath. Its `userInfo` may hold secrets and is left out, but for the scheme, host and port of the URL.
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

    /// Shows the same as ``description``, so that `dump` does not print the `userInfo` of the error beneath.
    public var customMirror: Mirror { Mirror(self, children: ["summary": description], displayStyle: .enum) }
}
