public import CourierCore
import Foundation
import Synchronization

/// Gets credentials from a token endpoint over HTTP. It decodes `ConnectOptions` from the JSON response and caches them
/// until shortly before they expire.
///
/// ```swift
/// let provider = try HTTPConnectionServiceProvider(
///     clientID: "phone-7",
///     request: TokenRequest(url: endpoint, method: .post, headers: ["Authorization": "Bearer \(session)"]),
///     mapping: ConnectOptionsMapping(
///         host: "broker.host", port: "broker.port", username: .fixed("ada"), password: "token",
///         scheme: .fixed("tls"), expiry: .after("expires_in")))
/// let client = CourierClientFactory().makeMQTTClient(config: MQTTClientConfig(provider: provider))
/// ```
///
/// In this example, `endpoint` is the URL of the token endpoint, and `session` is the app's session token. If several
/// callers wait at the same time, only one request is sent for all of them. If one caller is cancelled, the other
/// callers continue to wait. The errors are:
///
/// - for an HTTP status outside 200–299: ``CourierCore/AuthError/httpError(statusCode:)``;
/// - for a network error, a TLS error or a timeout: ``CourierCore/AuthError/otherError(_:)`` with the system's domain
///   and code. The failing URL is the endpoint's origin.
/// - for a response that is not JSON, is too long or lacks a value, or a redirect that is not followed: `CourierError`
///   with `authenticationFailed`, whose message names the problem;
/// - for a failed preparation of the request: the error of the preparation.
///
/// After an error response with `Retry-After`, the next request waits for the requested pause.
///
/// Descriptions, errors and log records of this type contain no token, header field or body, and only the origin of a
/// URL.
public final class HTTPConnectionServiceProvider: ConnectionServiceProvider {
    private enum Step {
        case give(ConnectGrant)
        case wait(SharedFetch)
    }

    private struct State {
        var cache: GrantCache
        /// The current fetch, which other callers can join.
        var fetch: SharedFetch?
    }

    /// The client id. The returned options contain the same id, unless the mapping has another source for the client
    /// id.
    public let clientID: String

    private let origin: HTTPOrigin?
    private let fetcher: TokenFetcher
    private let time: HTTPTime
    private let state: Mutex<State>

    /// Creates a provider and sends no request yet.
    ///
    /// - Parameters:
    ///   - clientID: A string that identifies this client among all clients of the broker.
    ///   - request: The request to the token endpoint.
    ///   - mapping: The mapping from the response to `ConnectOptions`.
    ///   - options: The times and limits.
    /// - Throws: A `CourierError` with `invalidConfiguration` if the request cannot be sent. Without `allowsPlainHTTP`,
    ///   the URL must be `https`, or `http` to this machine without a proxy from the environment. Other causes are a
    ///   user name in the URL, a line break in a header field, or a GET with a body.
    public convenience init(
        clientID: String, request: TokenRequest, mapping: ConnectOptionsMapping,
        options: HTTPConnectionServiceOptions = HTTPConnectionServiceOptions()
    ) throws {
        try self.init(clientID: clientID, request: request, mapping: mapping, options: options, time: .system)
    }

    package init(
        clientID: String, request: TokenRequest, mapping: ConnectOptionsMapping,
        options: HTTPConnectionServiceOptions, time: HTTPTime
    ) throws {
        self.clientID = clientID
        origin = HTTPOrigin(request.url)
        fetcher = try TokenFetcher(clientID: clientID, request, mapping, options, time)
        self.time = time
        state = Mutex(State(cache: GrantCache(margin: options.refreshMargin)))
    }

    /// Returns the cached credentials. Requests new credentials if the cached credentials expire soon or the cache is
    /// empty. The cache is empty after a clear, and if the last credentials had no known expiry.
    ///
    /// - Returns: The options and their expiry.
    /// - Throws: `AuthError`, `CourierError`, the error of the request's preparation, or `CancellationError`.
    public func connectOptions() async throws -> ConnectGrant {
        while true {
            try Task.checkCancellation()
            switch nextStep() {
            case .give(let grant): return grant
            case .wait(let fetch):
                if let grant = try await fetch.grant({ try await self.fetch(for: fetch) }) { return grant }
            }
        }
    }

    /// Clears the cached credentials, for example after the broker rejected them or the app's user changed. Callers
    /// that wait for a running fetch still get its result; later callers start a new fetch.
    public func clearCachedOptions() async {
        state.withLock { state in
            state.cache.clear()
            state.fetch = nil
        }
    }

    private func nextStep() -> Step {
        state.withLock { state in
            if let grant = state.cache.grant(at: time.now()) { return .give(grant) }
            if let fetch = state.fetch, !fetch.isOver { return .wait(fetch) }
            let fetch = SharedFetch()
            state.fetch = fetch
            return .wait(fetch)
        }
    }

    private func fetch(for fetch: SharedFetch) async throws -> ConnectGrant {
        let answer = try await fetcher.fetch()
        state.withLock { state in
            // If the cache was cleared during the fetch, or a newer fetch has begun, these credentials are not cached.
            guard state.fetch === fetch else { return }
            state.fetch = nil
            state.cache.keep(answer.grant, requestedAt: answer.requestedAt)
        }
        return answer.grant
    }
}

extension HTTPConnectionServiceProvider: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The client id and the origin of the endpoint.
    public var description: String {
        "HTTPConnectionServiceProvider(\(clientID.debugDescription), \(origin?.description ?? "no origin"))"
    }

    /// The same text as ``description``.
    public var debugDescription: String { description }

    /// Shows the same as ``description``.
    public var customMirror: Mirror { Mirror(self, children: ["provider": description], displayStyle: .class) }
}
