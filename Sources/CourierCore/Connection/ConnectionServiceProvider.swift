public import Foundation

/// The app's source of credentials for code written with `async`; beside ``IConnectionServiceProvider``, which takes
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
/// Contract. Calls come from any task, at most one ``connectOptions()`` at a time; it should end when its task is
/// cancelled, which happens at the authentication timeout and when the app disconnects. What it throws decides the
/// retry: an ``AuthError`` as that type says, any other error like ``AuthError/otherError(_:)``.
public protocol ConnectionServiceProvider: Sendable {
    /// A string that identifies this client among all clients of the broker, the same on every call.
    ///
    /// The client connects as ``ConnectOptions/clientId`` of the options that the provider gives, so put it in there, too. With
    /// `isMessagePersistenceEnabled` and without a `messageStore`, it reads this id when it is made: it names the file of the
    /// messages.
    var clientID: String { get }

    /// Finds the options for the next connection attempt.
    ///
    /// - Returns: The options, and until when they are good.
    /// - Throws: Why there are none.
    func connectOptions() async throws -> ConnectGrant

    /// Finds the options for a server that the broker has referred the client to. The client asks this for the hosts that its
    /// configuration allows with credentials of their own, and for no others. By default there are none.
    ///
    /// The client connects to `server`, whatever host and port the options name, and by TLS if the broker was connected by TLS.
    ///
    /// - Parameter server: Host and port of the server. The broker named them.
    /// - Returns: The options, and until when they are good.
    /// - Throws: Why there are none; the client then goes back to its own endpoints.
    func connectOptions(for server: BrokerEndpoint) async throws -> ConnectGrant

    /// Forgets cached credentials: the broker has just refused them, or has moved and not said where to. Does nothing
    /// by default.
    func clearCachedOptions() async

    /// Answers a challenge of the broker in an extended authentication of MQTT 5, which
    /// ``ConnectOptions/extendedAuthentication`` has begun. By default there is no answer, and the connection ends.
    ///
    /// One challenge is answered at a time: the next one waits until this returns, for which the task is cancelled.
    ///
    /// - Parameters:
    ///   - challenge: The broker's data; `nil` when it sent none.
    ///   - method: The method.
    /// - Returns: The data of the next step.
    /// - Throws: Why there is no answer; the connection ends then.
    func answer(_ challenge: Data?, method: String) async throws -> Data
}

extension ConnectionServiceProvider {
    /// Throws: the provider has no credentials for another server.
    public func connectOptions(for server: BrokerEndpoint) async throws -> ConnectGrant {
        throw CourierError(noOptionsFor: server)
    }

    /// Does nothing: there is no cache.
    public func clearCachedOptions() async {}

    /// Throws: a method with challenges needs a provider that answers them.
    public func answer(_ challenge: Data?, method: String) async throws -> Data {
        throw CourierError(
            .authenticationFailed,
            "The broker sent a challenge for the method \(method.quoted()), and the connection service provider answers "
                + "none; implement answer(_:method:).")
    }
}
