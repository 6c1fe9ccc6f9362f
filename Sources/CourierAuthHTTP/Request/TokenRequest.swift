public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// A request to a token endpoint.
///
/// ```swift
/// let request = TokenRequest(
///     url: URL(string: "https://id.example.com/mqtt-token")!, method: .post,
///     headers: ["Authorization": "Bearer \(session)"], body: try .json(["device": "phone-7"]))
/// ```
///
/// In this example, `session` is the app's session token. The descriptions and the mirror of a request show only the
/// method and the origin of the URL.
public struct TokenRequest: Sendable {
    /// The HTTP method of the request.
    public enum Method: String, Hashable, Sendable {
        /// GET, without a body.
        case get = "GET"
        /// POST.
        case post = "POST"
    }

    /// Changes a request just before it is sent, for example by a signature or a fresh header field.
    ///
    /// It is called on any thread before each request that is sent, including retries and redirects. It should end when
    /// its task is cancelled. ``HTTPConnectionServiceProvider/connectOptions()`` throws the error that the preparation
    /// throws.
    public typealias Preparation = @Sendable (inout URLRequest) async throws -> Void

    /// The URL of the token endpoint. Its scheme must be `https`, or `http` for this machine. For other machines,
    /// `http` also needs the option `allowsPlainHTTP`.
    public let url: URL
    /// The HTTP method.
    public let method: Method
    /// Header fields by name.
    public let headers: [String: String]
    /// The body of the request; `nil` for none.
    public let body: TokenRequestBody?
    /// Changes each request just before it is sent; `nil` for no change.
    public let preparation: Preparation?

    /// Creates a request. If the request cannot be sent, the provider's initializer throws.
    ///
    /// - Parameters:
    ///   - url: The URL of the token endpoint.
    ///   - method: The HTTP method; GET by default.
    ///   - headers: Header fields by name; none by default.
    ///   - body: The body of the request; none by default.
    ///   - preparation: Changes each request just before it is sent; `nil` by default.
    public init(
        url: URL, method: Method = .get, headers: [String: String] = [:], body: TokenRequestBody? = nil,
        preparation: Preparation? = nil
    ) {
        self.url = url
        self.method = method
        self.headers = headers
        self.body = body
        self.preparation = preparation
    }
}

extension TokenRequest: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The method and the origin. The path and the query are omitted, because they may contain a secret.
    public var description: String {
        "TokenRequest(\(method.rawValue) \(HTTPOrigin(url)?.description ?? "<unusable URL>"))"
    }

    /// The same text as ``description``.
    public var debugDescription: String { description }

    /// Shows the same as ``description``.
    public var customMirror: Mirror { Mirror(self, children: ["request": description], displayStyle: .struct) }
}
