package import Foundation

/// Describes why `URLSession` received no response from a credential service, as a text for people.
///
/// The text contains only the scheme, host and port of the service's URL, because the path and the query may be secret.
package struct CredentialServiceFailure: CustomStringConvertible, Sendable {
    /// A sentence about the service and its failure, without an initial capital letter and without a full stop.
    package let description: String

    /// Creates the description of a `URLSession` error; `nil` for any other error.
    package init?(_ error: NSError) {
        guard error.domain == NSURLErrorDomain else { return nil }
        let service = Self.origin(of: error).map { "the credential service \($0)" } ?? "the credential service"
        description = "\(service) \(Self.words(for: Self.code(of: error)))"
    }

    /// Returns the code of an error of `URLSession`.
    ///
    /// On Linux, `URLSession` reports every TLS failure with the code `NSURLErrorUnknown`, and only the error text of
    /// libcurl contains the reason. For such a failure, the method returns the code that fits the text.
    package static func code(of error: NSError) -> Int {
        guard error.domain == NSURLErrorDomain, error.code == NSURLErrorUnknown else { return error.code }
        let words = error.localizedDescription
        guard words.contains("SSL") || words.contains("TLS") else { return error.code }
        guard words.contains("certificate problem") else { return NSURLErrorSecureConnectionFailed }
        let isAboutTime = words.contains("expired") || words.contains("not yet valid")
        return isAboutTime ? NSURLErrorServerCertificateHasBadDate : NSURLErrorServerCertificateUntrusted
    }

    private static func origin(of error: NSError) -> String? {
        guard let url = error.userInfo[NSURLErrorFailingURLErrorKey] as? URL, let scheme = url.scheme,
            let host = url.host(percentEncoded: true), !host.isEmpty
        else { return nil }
        let name = host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : host
        return "\(scheme)://\(name)\(url.port.map { ":\($0)" } ?? "")"
    }

    private static func words(for code: Int) -> String {
        switch code {
        case NSURLErrorCannotConnectToHost: "cannot be reached: the connection was refused"
        case NSURLErrorCannotFindHost, NSURLErrorDNSLookupFailed: "cannot be reached: its host was not found"
        case NSURLErrorNotConnectedToInternet: "cannot be reached: there is no network"
        case NSURLErrorTimedOut: "did not answer in time"
        case NSURLErrorNetworkConnectionLost: "did not answer: the connection was lost"
        case NSURLErrorSecureConnectionFailed: "cannot be reached: TLS failed"
        case NSURLErrorServerCertificateHasBadDate, NSURLErrorServerCertificateNotYetValid:
            "cannot be reached: TLS failed, because its certificate has expired or is not valid yet"
        case NSURLErrorServerCertificateUntrusted, NSURLErrorServerCertificateHasUnknownRoot:
            "cannot be reached: TLS failed, because its certificate is not trusted"
        case NSURLErrorClientCertificateRejected, NSURLErrorClientCertificateRequired:
            "cannot be reached: TLS failed, because it requires a client certificate"
        default: "did not answer (\(NSURLErrorDomain), code \(code))"
        }
    }
}
