import CourierCore
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Decides which requests may be sent, and to which servers.
struct RequestRules: Sendable {
    /// The reason why a request is not sent.
    struct Refusal: Error, Equatable {
        let message: String
    }

    /// True if `http` is allowed to other machines and through a proxy.
    let allowsPlainHTTP: Bool
    /// The environment variables that can make requests go through a proxy.
    var environment = ProxyEnvironment.process

    /// Creates the URL request for `description`.
    func request(for description: TokenRequest) throws(Refusal) -> URLRequest {
        var request = URLRequest(url: description.url)
        request.httpMethod = description.method.rawValue
        request.setValue("application/json", forHTTPHeaderField: "Accept")
        if let body = description.body {
            guard description.method == .post else {
                throw Refusal(message: "A GET request has no body; use POST.")
            }
            request.httpBody = body.data
            request.setValue(body.contentType, forHTTPHeaderField: "Content-Type")
        }
        for (name, value) in description.headers {
            // The field is checked before `setValue`, because `URLRequest` drops some invalid header fields without an
            // error.
            try check(name, value)
            request.setValue(value, forHTTPHeaderField: name)
        }
        return request
    }

    /// Throws if `request` must not be sent; otherwise returns its origin.
    func check(_ request: URLRequest) throws(Refusal) -> HTTPOrigin {
        guard let url = request.url, let origin = HTTPOrigin(url) else {
            throw Refusal(message: "The URL of the token endpoint is not an HTTP URL with a host.")
        }
        guard origin.isSecure || origin.isLoopback || allowsPlainHTTP else {
            throw Refusal(
                message: """
                    The request to the token endpoint \(origin) has no TLS, so others could read the credentials. \
                    Use https, or allow plain HTTP with `allowsPlainHTTP`.
                    """)
        }
        if !origin.isSecure, !allowsPlainHTTP, let name = environment.variable(forPlainHTTPTo: origin.host) {
            throw Refusal(
                message: """
                    The request to the token endpoint \(origin) has no TLS, and the variable \(name) names a proxy. \
                    The proxy could read the credentials. \
                    Add \(origin.host) to the variable no_proxy, or allow plain HTTP with `allowsPlainHTTP`.
                    """)
        }
        guard url.user == nil, url.password == nil else {
            throw Refusal(message: "The URL of the token endpoint contains a user name; send it in a header field.")
        }
        for (name, value) in request.allHTTPHeaderFields ?? [:] { try check(name, value) }
        return origin
    }

    /// Throws if a header field has a character that is not allowed, such as a line break, which would start another
    /// field or the body.
    private func check(_ name: String, _ value: String) throws(Refusal) {
        guard !name.isEmpty, name.utf8.allSatisfy(Self.isTokenByte), value.utf8.allSatisfy(Self.isValueByte) else {
            throw Refusal(
                message: "A header field of the token request has a character that is not allowed in a header field.")
        }
    }

    /// True if a header field's name may contain `byte` (RFC 9110, section 5.6.2).
    private static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }

    /// True if a header field's value may contain `byte` (RFC 9110, section 5.5).
    private static func isValueByte(_ byte: UInt8) -> Bool { byte == 9 || byte >= 32 && byte != 127 }
}
