public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// What is asked of a token endpoint.
///
/// ```swift
/// let request = TokenRequest(
///     url: URL(string: "https://id.example.com/mqtt-token")!, method: .post,
///     headers: ["Authorization": "Bearer \(session)"], body: try .json(["device": "phone-7"]))
/// ```
///
/// No description, debug description or mirror of it shows more than the method and the origin of the URL.
public struct TokenRequest: Sendable {
    /// How the endpoint is asked.
    public enum Method: String, Hashable, Sendable {
        /// GET, without a body.
        case get = "GET"
        /// POST.
        case post = "POST"
    }

    /// Changes a request just before it is sent, for example by a signature or a fresh header field.
    ///
    /// It is called for every request on the wire, on any thread, also for a retry and after a redirect, and should end when its task
    /// is cancelled. What it throws is the failure of ``HTTPConnectionServiceProvider/connectOptions()``.
    public typealias Preparation = @Sendable (inout URLRequest) async throws -> Void

    /// Where to ask: `https`, and `http` on this machine.
    public let url: URL
    /// How to ask.
    public let method: Method
    /// Header fields by name.
    public let headers: [String: String]
    /// What is sent along; `nil` for nothing.
    public let body: TokenRequestBody?
    /// Changes each request just before it is sent; `nil` for not at all.
    public let preparation: Preparation?

    /// Describes the request; what cannot be sent is an error of the provider's initializer.
    ///
    /// - Parameters:
    ///   - url: Where to ask.
    ///   - method: How to ask; GET by default.
    ///   - headers: Header fields by name; none by default.
    ///   - body: What is sent along; nothing by default.
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
    /// The method and the origin: a path or a query may hold a secret.
    public var description: String {
        "TokenRequest(\(method.rawValue) \(HTTPOrigin(url)?.description ?? "<unusable URL>"))"
    }

    /// The same text as ``description``.
    public var debugDescription: String { description }

    /// Shows the same as ``description``.
    public var customMirror: Mirror { Mirror(self, children: ["request": description], displayStyle: .struct) }
}
