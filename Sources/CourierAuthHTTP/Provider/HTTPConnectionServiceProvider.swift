public import CourierCore
import Foundation
import Synchronization

/// Credentials from a token endpoint: asks it over HTTP, reads `ConnectOptions` out of its JSON, and keeps them until shortly
/// before they end.
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
/// Callers on any task share one request; who is cancelled leaves the others waiting. What fails:
///
/// - an HTTP status outside 200–299: ``CourierCore/AuthError/httpError(statusCode:)``;
/// - the network, TLS or the timeout: ``CourierCore/AuthError/otherError(_:)`` with the system's domain and code, the
///   endpoint's origin as the failing URL, and nothing else;
/// - an answer that is no JSON, too long, or lacks a value; a redirect that is not followed: `CourierError` with
///   `authenticationFailed` that names what is wrong;
/// - the request's preparation: its own error.
///
/// After an answer with `Retry-After` the next call waits until the endpoint wants to be asked again.
///
/// Nothing that this type says, throws or logs holds a token, a header field, a body, or more of a URL than its origin.
public final class HTTPConnectionServiceProvider: ConnectionServiceProvider {
    private enum Step {
        case give(ConnectGrant)
        case wait(SharedFetch)
    }

    private struct State {
        var cache: GrantCache
        /// The fetch that a caller can join.
        var fetch: SharedFetch?
    }

    /// The client's id, and that of the options unless the answer has another one.
    public let clientID: String

    private let origin: HTTPOrigin?
    private let fetcher: TokenFetcher
    private let time: HTTPTime
    private let state: Mutex<State>

    /// Makes a provider; nothing is asked yet.
    ///
    /// - Parameters:
    ///   - clientID: A string that identifies this client among all clients of the broker.
    ///   - request: What is asked, and where.
    ///   - mapping: How the answer is read.
    ///   - options: Times and limits.
    /// - Throws: A `CourierError` with `invalidConfiguration` when the request cannot be sent: the URL is not `https` and
    ///   not on this machine, or is on it and the environment names a proxy for it; the URL holds a user; a header field
    ///   has a line break; a GET has a body.
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

    /// The credentials at hand, or new ones when they end soon, were cleared, or say nothing of their end.
    ///
    /// - Returns: The options, and until when they are good.
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

    /// Throws away the credentials at hand, such as after the broker has refused them or when the app's user has changed. A
    /// fetch that is under way still answers those who wait for it, and nobody else.
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
            guard state.fetch === fetch else { return }  // Cleared since, or abandoned and begun anew.
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
