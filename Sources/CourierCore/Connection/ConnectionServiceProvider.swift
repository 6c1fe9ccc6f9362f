public import Foundation

/// The app's source of credentials, for `async` code. ``IConnectionServiceProvider`` is the variant with completion
/// handlers.
///
/// ```swift
/// actor TokenService: ConnectionServiceProvider {
///     let clientID = "phone-7"
///     func connectOptions() async throws -> ConnectGrant {
///         let token = try await fetchToken()
///         return ConnectGrant(
///             ConnectOptions(host: "broker", port: 8883, clientId: clientID, username: "ada", password: token.text),
///             expiresAt: token.expiry)
///     }
/// }
/// ```
///
/// Contract. The client calls ``connectOptions()`` from any task, at most one call at a time. The client cancels the
/// task of the call at the authentication timeout, and when the app disconnects. The call should then end. The thrown
/// error decides when the client tries again, as ``AuthError`` describes. Any other error is treated like
/// ``AuthError/otherError(_:)``. If the returned options are wrong, the client stops. Publishes, subscriptions and
/// loops then wait for a `connect()` that gets correct options. If the network returns during a call, the client does
/// not cancel the call.
public protocol ConnectionServiceProvider: Sendable {
    /// A string that identifies this client among all clients of the broker, the same on every call.
    ///
    /// The client connects with ``ConnectOptions/clientId`` of the provider's options, so set the same id there. With
    /// `isMessagePersistenceEnabled` and without a `messageStore`, the message file is named after this id. So the
    /// client reads the id when the client is created.
    var clientID: String { get }

    /// Returns the options for the next connection attempt.
    ///
    /// - Returns: The options, and when they expire.
    /// - Throws: The reason why there are no options.
    func connectOptions() async throws -> ConnectGrant

    /// Returns the options for another server. The broker has redirected the client to that server. The client calls
    /// this method only if its configuration (`endpoints.redirects`) says that the server gets its own credentials. The
    /// default implementation throws an error.
    ///
    /// The client connects to `server`, whatever host and port the options have. If the connection to the broker used
    /// TLS, the connection to `server` uses TLS, too.
    ///
    /// - Parameter server: The host and port that the broker named.
    /// - Returns: The options, and when they expire.
    /// - Throws: The reason why there are no options. The client then returns to its own endpoints.
    func connectOptions(for server: BrokerEndpoint) async throws -> ConnectGrant

    /// Removes cached credentials. The client calls this method when the broker has refused the credentials, or has
    /// moved without naming its new address. The default implementation does nothing. If a broker refuses credentials
    /// without CONNACK, as RabbitMQ does over WebSocket, the client does not call this method.
    func clearCachedOptions() async

    /// Returns the response to a challenge of the broker, in an extended authentication of MQTT 5 that
    /// ``ConnectOptions/extendedAuthentication`` has begun. The default implementation throws an error, which ends the
    /// connection.
    ///
    /// The client makes one call at a time. If another challenge arrives, the client cancels the task of the running
    /// call. It makes the next call after the running call has returned.
    ///
    /// - Parameters:
    ///   - challenge: The broker's data; `nil` if it sent none.
    ///   - method: The name of the authentication method.
    /// - Returns: The data of the next step.
    /// - Throws: The reason why there is no response. The connection then ends.
    func answer(_ challenge: Data?, method: String) async throws -> Data
}

extension ConnectionServiceProvider {
    /// Throws an error, because this default implementation has no credentials for the server that the broker
    /// redirected the client to.
    public func connectOptions(for server: BrokerEndpoint) async throws -> ConnectGrant {
        throw CourierError(noOptionsFor: server)
    }

    /// Does nothing, for a provider that caches no credentials.
    public func clearCachedOptions() async {}

    /// Throws an error, because the provider does not implement a response to challenges.
    public func answer(_ challenge: Data?, method: String) async throws -> Data {
        throw CourierError(
            .authenticationFailed,
            "The broker sent a challenge for the method \(method.quoted()), but the auth provider cannot answer it. "
                + "Implement answer(_:method:).")
    }
}
