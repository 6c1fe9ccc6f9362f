import CourierCore
import Foundation

/// The reason why a provider returned no options, and whether the failure is temporary.
struct CredentialFailure: Sendable {
    /// The error that is reported to the app.
    let error: CourierError
    /// True if the failure is temporary, so that the same request may succeed later. A failure with an HTTP status from
    /// 400 to 499 is permanent.
    let mayPass: Bool
    /// True if the cause is a missing network.
    let isOfNetwork: Bool

    /// Makes the failure of a provider that did not respond within the authentication timeout.
    static func timedOut(after timeout: Duration) -> CredentialFailure {
        CredentialFailure(
            error: CourierError(
                .authenticationFailed,
                "The auth provider did not answer in \(timeout) (authenticationTimeoutInterval). "
                    + "Make sure that the auth provider always answers, or raise this interval."),
            mayPass: true, isOfNetwork: false)
    }

    private init(error: CourierError, mayPass: Bool, isOfNetwork: Bool) {
        self.error = error
        self.mayPass = mayPass
        self.isOfNetwork = isOfNetwork
    }

    /// Classifies an error that a provider reported or threw.
    init(_ error: any Error) {
        let message: String
        switch error {
        case AuthError.httpError(let statusCode):
            mayPass = !(400...499).contains(statusCode)
            isOfNetwork = false
            message = Self.message("the credential service answered with HTTP status \(statusCode)")
        case AuthError.otherError(let beneath):
            mayPass = true
            isOfNetwork = Self.isNetworkError(beneath)
            message = Self.message(beneath)
        default:
            let bridged = error as NSError
            mayPass = true
            isOfNetwork = Self.isNetworkError(bridged)
            message = (error as? CourierError).map { Self.message($0.message) } ?? Self.message(bridged)
        }
        self.error = CourierError(.authenticationFailed, message.asSentence, cause: error)
    }

    // MARK: Error messages

    private static func message(_ summary: String) -> String {
        "The auth provider returned no options: \(summary)"
    }

    /// Returns the message for a provider's error. If the error is a known failure of the credential service, the
    /// message is only the failure's description.
    private static func message(_ error: NSError) -> String {
        guard let failure = CredentialServiceFailure(error) else {
            return message("\(error.domain), code \(error.code)")
        }
        let words = failure.description
        return words.prefix(1).uppercased() + words.dropFirst()
    }

    // MARK: Network errors

    /// The codes of `NSURLErrorDomain` that mean a missing network: not connected to the internet, international
    /// roaming off, a call is active, data not allowed.
    ///
    /// Linux reports none of these codes. Without a network, Linux reports "host not found", "timed out" or "unknown".
    /// These errors may also mean that the service is down. So on Linux, only the network monitor can detect a missing
    /// network.
    private static let urlErrorCodes: Set<Int> = [-1009, -1018, -1019, -1020]

    /// The maximum number of errors to check: the provider's error, and the errors in its chain of underlying errors.
    private static let maximumDepth = 4

    private static let posixErrorCodes: Set<Int> = Set(
        [POSIXErrorCode.ENETDOWN, .ENETUNREACH].map { Int($0.rawValue) })

    private static func isNetworkError(_ error: NSError) -> Bool {
        var next: NSError? = error
        for _ in 0..<maximumDepth {
            guard let error = next else { return false }
            switch error.domain {
            case NSURLErrorDomain where urlErrorCodes.contains(error.code): return true
            case NSPOSIXErrorDomain where posixErrorCodes.contains(error.code): return true
            default: break
            }
            next = error.userInfo[NSUnderlyingErrorKey] as? NSError
        }
        return false
    }
}
