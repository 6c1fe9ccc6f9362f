import CourierCore
import Foundation
import Testing

@testable import CourierMQTT

@Suite struct CredentialFailureTests {
    @Test func `HTTP status 400 to 499 is a permanent credential failure, other errors are temporary`() {
        for status in [400, 401, 403, 404, 429, 499] {
            #expect(!CredentialFailure(AuthError.httpError(statusCode: status)).mayPass, "\(status)")
        }
        for status in [0, 200, 302, 399, 500, 503] {
            #expect(CredentialFailure(AuthError.httpError(statusCode: status)).mayPass, "\(status)")
        }
        #expect(CredentialFailure(AuthError.otherError(NSError(domain: "app", code: 7))).mayPass)
        #expect(CredentialFailure(CancellationError()).mayPass)
        #expect(CredentialFailure.timedOut(after: .seconds(1)).mayPass)
    }

    @Test func `a network error is recognized by domain and code, even if another error contains the network error`() {
        func isOfNetwork(_ error: any Error) -> Bool { CredentialFailure(error).isOfNetwork }
        let offline = NSError(domain: NSURLErrorDomain, code: -1009)
        #expect(isOfNetwork(AuthError.otherError(offline)))
        #expect(isOfNetwork(offline))
        #expect(isOfNetwork(POSIXError(.ENETUNREACH)))
        #expect(isOfNetwork(POSIXError(.ENETDOWN)))
        #expect(
            isOfNetwork(
                AuthError.otherError(NSError(domain: "app", code: 1, userInfo: [NSUnderlyingErrorKey: offline]))))
        #expect(isOfNetwork(CourierError(.authenticationFailed, "no", cause: offline)))
        #expect(!isOfNetwork(AuthError.otherError(NSError(domain: NSURLErrorDomain, code: -1012))))
        #expect(!isOfNetwork(AuthError.otherError(NSError(domain: "app", code: -1009))))
        #expect(!isOfNetwork(AuthError.httpError(statusCode: 503)))
        #expect(!isOfNetwork(POSIXError(.EACCES)))
    }

    @Test(arguments: [-1, -1001, -1003, -1004, -1005, -1006])
    func `an error that the credential service may have caused does not count as a network error`(_ code: Int) {
        let error = NSError(domain: NSURLErrorDomain, code: code)
        #expect(!CredentialFailure(AuthError.otherError(error)).isOfNetwork)
        let offline = NSError(domain: NSURLErrorDomain, code: -1009)
        let explained = NSError(domain: NSURLErrorDomain, code: code, userInfo: [NSUnderlyingErrorKey: offline])
        #expect(CredentialFailure(explained).isOfNetwork, "the error beneath is sure")
        for code in [POSIXErrorCode.ECONNRESET, .ENETRESET, .EHOSTDOWN, .EHOSTUNREACH] {
            #expect(!CredentialFailure(POSIXError(code)).isOfNetwork)
        }
    }

    @Test func `the error of a failed provider names domain and code, contains the cause and hides userInfo`() {
        let secret = NSError(domain: "app", code: 7, userInfo: [NSLocalizedDescriptionKey: "token=s3cret"])
        let failure = CredentialFailure(AuthError.otherError(secret))
        #expect(failure.error.code == .authenticationFailed)
        #expect(failure.error.message == "The auth provider returned no options: app, code 7.")
        #expect(failure.error.cause is AuthError)
        #expect(!"\(failure.error)".contains("s3cret"))
    }

    @Test(arguments: [
        (NSURLErrorCannotConnectToHost, "cannot be reached: the connection was refused"),
        (NSURLErrorCannotFindHost, "cannot be reached: its host was not found"),
        (NSURLErrorDNSLookupFailed, "cannot be reached: its host was not found"),
        (NSURLErrorNotConnectedToInternet, "cannot be reached: there is no network"),
        (NSURLErrorTimedOut, "did not answer in time"),
        (NSURLErrorNetworkConnectionLost, "did not answer: the connection was lost"),
        (NSURLErrorSecureConnectionFailed, "cannot be reached: TLS failed"),
        (
            NSURLErrorServerCertificateHasBadDate,
            "cannot be reached: TLS failed, because its certificate has expired or is not valid yet"
        ),
        (
            NSURLErrorServerCertificateUntrusted,
            "cannot be reached: TLS failed, because its certificate is not trusted"
        ),
        (
            NSURLErrorClientCertificateRequired,
            "cannot be reached: TLS failed, because it requires a client certificate"
        ),
        (NSURLErrorCannotParseResponse, "did not answer (NSURLErrorDomain, code -1017)"),
        (NSURLErrorUnknown, "did not answer (NSURLErrorDomain, code -1)"),
    ])
    func `a URLSession error names the credential service and the problem, but no secret`(
        _ code: Int, _ words: String
    ) throws {
        let url = try #require(URL(string: "http://ada:s3cret@127.0.0.1:8080/s3cret?token=s3cret#s3cret"))
        let error = NSError(
            domain: NSURLErrorDomain, code: code,
            userInfo: [NSURLErrorFailingURLErrorKey: url, "NSErrorFailingURLStringKey": url.absoluteString])
        for thrown in [AuthError.otherError(error), URLError(_nsError: error), error] as [any Error] {
            let told = CredentialFailure(thrown).error
            #expect(told.message == "The credential service http://127.0.0.1:8080 \(words).")
            #expect(!"\(told)".contains("s3cret"))
        }
        let unnamed = CredentialFailure(NSError(domain: NSURLErrorDomain, code: code)).error
        #expect(unnamed.message == "The credential service \(words).")
    }

    @Test(arguments: [
        ("SSL certificate problem: self-signed certificate", NSURLErrorServerCertificateUntrusted),
        ("SSL certificate problem: certificate has expired", NSURLErrorServerCertificateHasBadDate),
        ("SSL certificate problem: certificate is not yet valid", NSURLErrorServerCertificateHasBadDate),
        ("SSL: no alternative certificate subject name matches target host name", NSURLErrorSecureConnectionFailed),
        ("TLS connect error: error:0A00010B:SSL routines::wrong version number", NSURLErrorSecureConnectionFailed),
        ("Couldn't connect to server", NSURLErrorUnknown),
    ])
    func `a TLS error that URLSession reports as unknown is recognized by its description`(
        _ words: String, _ code: Int
    ) {
        let error = NSError(
            domain: NSURLErrorDomain, code: NSURLErrorUnknown, userInfo: [NSLocalizedDescriptionKey: words])
        #expect(CredentialServiceFailure.code(of: error) == code)
        let other = NSError(domain: "app", code: NSURLErrorUnknown, userInfo: [NSLocalizedDescriptionKey: words])
        #expect(CredentialServiceFailure.code(of: other) == NSURLErrorUnknown)
    }

    @Test(arguments: [
        ("https://id.example/token", "https://id.example"), ("https://[::1]:8443/", "https://[::1]:8443"),
        ("https://a%0Ab.example/", "https://a%0Ab.example"), ("file:///etc/s3cret", nil), ("/s3cret", nil),
    ])
    func `the error message contains only the origin of the credential service's URL`(
        _ text: String, _ origin: String?
    ) throws {
        let error = NSError(
            domain: NSURLErrorDomain, code: -1001, userInfo: [NSURLErrorFailingURLErrorKey: URL(string: text) as Any])
        let service = origin.map { " \($0)" } ?? ""
        let told = CredentialFailure(error).error.message
        #expect(told == "The credential service\(service) did not answer in time.")
    }
}
