import CourierCore
import Foundation

/// Why a provider gave no options, by what follows from it.
struct CredentialFailure: Sendable {
    /// What the app is told.
    let error: CourierError
    /// Whether asking again soon is worth it: not after an HTTP status in 400–499.
    let mayPass: Bool
    /// Whether it says that there is no network.
    let isOfNetwork: Bool

    /// The provider did not answer within the authentication timeout.
    static func timedOut(after timeout: Duration) -> CredentialFailure {
        CredentialFailure(
            error: CourierError(
                .authenticationFailed,
                "The connection service provider did not answer in \(timeout) (authenticationTimeoutInterval). Make "
                    + "sure that it always answers, or raise the interval."),
            mayPass: true, isOfNetwork: false)
    }

    private init(error: CourierError, mayPass: Bool, isOfNetwork: Bool) {
        self.error = error
        self.mayPass = mayPass
        self.isOfNetwork = isOfNetwork
    }

    /// Reads what a provider reported or threw.
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

    // MARK: Words

    private static func message(_ summary: String) -> String {
        "The connection service provider gave no options: \(summary)"
    }

    /// What happened to the service if that is known: it says enough by itself.
    private static func message(_ error: NSError) -> String {
        guard let failure = CredentialServiceFailure(error) else {
            return message("\(error.domain), code \(error.code)")
        }
        let words = failure.description
        return words.prefix(1).uppercased() + words.dropFirst()
    }

    // MARK: Network errors

    /// `NSURLErrorDomain`: not connected to the internet, international roaming off, a call is active, data not allowed.
    ///
    /// Linux has none of them. What it says without a network (host not found, timed out, unknown) it also says when the
    /// service is gone, and that the connection was lost when the service resets it: there only the monitor knows.
    private static let urlErrorCodes: Set<Int> = [-1009, -1018, -1019, -1020]

    /// How deep underlying errors are looked for.
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
