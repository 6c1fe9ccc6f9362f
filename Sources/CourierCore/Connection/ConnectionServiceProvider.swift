public import Foundation

/// The app's source of credentials, for `async` code. ``IConnectionServiceProvider`` is the same for code with
/// closures.
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
/// Contract. The client calls ``connectOptions()`` from any task, at most one call at a time. The call should end when
/// its task is cancelled: at the authentication timeout, and when the app disconnects. The thrown error decides when
/// the client tries again, as ``AuthError`` describes. Any other error is treated like ``AuthError/otherError(_:)``.
public protocol ConnectionServiceProvider: Sendable {
    /// A string that identifies this client among all clients of the broker, the same on every call.
    ///
    /// The client connects with ``ConnectOptions/clientId`` of the provider's options, so set the same id there. With
    /// `isMessagePersistenceEnabled` and without a `messageStore`, the client reads this id when it is made, because
    /// the id names the file of the messages.
    var clientID: String { get }

    /// Returns the options for the next connection attempt.
    ///
    /// - Returns: The options, and when they expire.
    /// - Throws: The reason why there are no options.
    func connectOptions() async throws -> ConnectGrant

    /// Returns the options for another server, to which the broker has redirected the client. The client calls this
    /// only for hosts that its configuration allows with their own credentials. By default, it throws.
    ///
    /// The client connects to `server`, whatever host and port the options have. If the connection to the broker used
    /// TLS, this connection uses TLS, too.
    ///
    /// - Parameter server: The host and port that the broker named.
    /// - Returns: The options, and when they expire.
    /// - Throws: The reason why there are no options. The client then returns to its own endpoints.
    func connectOptions(for server: BrokerEndpoint) async throws -> ConnectGrant

    /// Removes cached credentials. Called when the broker has refused them, or has moved without naming its new
    /// address. Does nothing by default.
    func clearCachedOptions() async

    /// Returns the response to a challenge of the broker, in an extended authentication of MQTT 5 that
    /// ``ConnectOptions/extendedAuthentication`` has begun. By default, it throws, and the connection ends.
    ///
    /// Only one challenge is answered at a time. If another one arrives, the task of the present call is cancelled, and
    /// the next call begins after this one has returned.
    ///
    /// - Parameters:
    ///   - challenge: The broker's data; `nil` if it sent none.
    ///   - method: The name of the authentication method.
    /// - Returns: The data of the next step.
    /// - Throws: The reason why there is no response. The connection then ends.
    func answer(_ challenge: Data?, method: String) async throws -> Data
}

extension ConnectionServiceProvider {
    /// Throws an error, because the provider has no credentials for another server.
    public func connectOptions(for server: BrokerEndpoint) async throws -> ConnectGrant {
        throw CourierError(noOptionsFor: server)
    }

    /// Does nothing, because there is no cache.
    public func clearCachedOptions() async {}

    /// Throws an error, because a method with challenges needs a provider that responds to them.
    public func answer(_ challenge: Data?, method: String) async throws -> Data {
        throw CourierError(
            .authenticationFailed,
            "The broker sent a challenge for the method \(method.quoted()), and the connection service provider answers "
                + "none; implement answer(_:method:).")
    }
}
