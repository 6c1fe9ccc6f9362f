import CourierCore
import Foundation
import Testing

@testable import CourierMQTT

@Suite struct CredentialFailureTests {
    @Test func `an HTTP status in 400 to 499 will not pass, everything else may`() {
        for status in [400, 401, 403, 404, 429, 499] {
            #expect(!CredentialFailure(AuthError.httpError(statusCode: status)).mayPass, "\(status)")
        }
        for status in [0, 200, 302, 399, 500, 503] {
            #expect(CredentialFailure(AuthError.httpError(statusCode: status)).mayPass, "\(status)")
        }
        #expect(CredentialFailure(AuthError.otherError(NSError(domain: "app", code: 7))).mayPass)
        #expect(CredentialFailure(CancellationError()).mayPass)
        #expect(CredentialFailure.timedOut.mayPass)
    }

    @Test func `network errors are known by domain and code, also beneath another error`() {
        func isOfNetwork(_ error: any Error) -> Bool { CredentialFailure(error).isOfNetwork }
        let offline = NSError(domain: NSURLErrorDomain, code: -1009)
        #expect(isOfNetwork(AuthError.otherError(offline)))
        #expect(isOfNetwork(AuthError.otherError(NSError(domain: NSURLErrorDomain, code: -1005))))
        #expect(isOfNetwork(offline))
        #expect(isOfNetwork(POSIXError(.ENETUNREACH)))
        #expect(isOfNetwork(POSIXError(.EHOSTUNREACH)))
        #expect(
            isOfNetwork(
                AuthError.otherError(NSError(domain: "app", code: 1, userInfo: [NSUnderlyingErrorKey: offline]))))
        #expect(isOfNetwork(CourierError(.authenticationFailed, "no", cause: offline)))
        #expect(!isOfNetwork(AuthError.otherError(NSError(domain: NSURLErrorDomain, code: -1012))))
        #expect(!isOfNetwork(AuthError.otherError(NSError(domain: "app", code: -1009))))
        #expect(!isOfNetwork(AuthError.httpError(statusCode: 503)))
        #expect(!isOfNetwork(POSIXError(.EACCES)))
    }

    @Test func `the error for the app names the reason, keeps the cause, and shows no user info`() {
        let secret = NSError(domain: "app", code: 7, userInfo: [NSLocalizedDescriptionKey: "token=s3cret"])
        let failure = CredentialFailure(AuthError.otherError(secret))
        #expect(failure.error.code == .authenticationFailed)
        #expect(failure.error.message == "The connection service provider gave no options: app, code 7.")
        #expect(failure.error.cause is AuthError)
        #expect(!"\(failure.error)".contains("s3cret"))
    }
}
