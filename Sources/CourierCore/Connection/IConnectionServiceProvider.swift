import Foundation

/// The app's source of credentials. The client requests ``ConnectOptions`` from the provider when a connection attempt
/// needs them.
///
/// ```swift
/// final class AuthService: IConnectionServiceProvider {
///     var clientId: String { deviceID }
///     func getConnectOptions(completion: @escaping @Sendable (Result<ConnectOptions, AuthError>) -> Void) {
///         fetchCredentials(completion)
///     }
/// }
/// ```
///
/// The client reuses the options for reconnects. The provider needs a cache only for options that must survive the
/// process.
///
/// Contract. The client keeps the provider alive. It calls the provider only on its delivery queue (the main queue
/// unless configured otherwise), one call at a time. So a provider needs no lock and need not be `Sendable`. It must
/// not block that queue. A new request may begin while an earlier request has no result yet: see
/// ``getConnectOptions(completion:)``. ``extraIdProvider`` is for the app's own code: the client does not read it. New
/// code may prefer ``ConnectionServiceProvider``, which is `async`.
public protocol IConnectionServiceProvider: AnyObject {
    /// A string that identifies this client among all clients of the broker, the same on every call.
    ///
    /// The client connects with ``ConnectOptions/clientId`` of the provider's options, so set the same id there. With
    /// `isMessagePersistenceEnabled` and without a `messageStore`, the message file is named after this id. So the
    /// client reads the id when the client is created, on the thread that creates the client.
    var clientId: String { get }

    /// Reports the options for another server, or the error. The broker has redirected the client to that server. The
    /// client calls this method only if its configuration (`endpoints.redirects`) says that the server gets its own
    /// credentials. The default implementation reports an error.
    ///
    /// The client connects to `server`, whatever host and port the options have. If the connection to the broker used
    /// TLS, the connection to `server` uses TLS, too.
    ///
    /// - Parameters:
    ///   - server: The host and port that the broker named.
    ///   - completion: Receives the result, like the completion of ``getConnectOptions(completion:)``.
    func getConnectOptions(
        for server: BrokerEndpoint, completion: @escaping @Sendable (Result<ConnectOptions, AuthError>) -> Void
    )

    /// Options that the client can use without a request, for example stored options of an earlier process. If the
    /// value is `nil`, the default, the client requests options. After the broker has refused the options, the client
    /// does not read this property until ``getConnectOptions(completion:)`` has succeeded.
    var existingConnectOptions: ConnectOptions? { get }

    /// A closure that returns a further part of the client id, for a provider that builds the id from several parts.
    ///
    /// The client neither reads nor sets this property. The default implementation returns `nil`, and ignores new
    /// values.
    var extraIdProvider: (() -> String?)? { get set }

    /// Reports the options for the next connection attempt, or the error.
    ///
    /// When the client calls this method, an earlier call may still have no result. This happens if the app has
    /// disconnected and connected again, or if the authentication timeout has passed. The client then ignores the
    /// result of the earlier call.
    ///
    /// - Parameter completion: Receives the result, on any thread, now or later. Only the first call of the completion
    ///   has an effect. A call of the completion after the authentication timeout, or after the app has disconnected,
    ///   has no effect. A provider may declare this parameter with or without `@Sendable`. In Swift 6 mode, the
    ///   attribute is necessary to pass the completion to another thread.
    func getConnectOptions(completion: @escaping @Sendable (Result<ConnectOptions, AuthError>) -> Void)

    /// Removes cached credentials. The client calls this method when the broker has refused the credentials, or has
    /// moved without naming its new address. The default implementation does nothing.
    func clearCachedAuthResponse()
}

extension IConnectionServiceProvider {
    /// Returns `nil`, so that the client always calls ``getConnectOptions(completion:)``.
    public var existingConnectOptions: ConnectOptions? { nil }

    /// This default implementation returns `nil` and ignores new values.
    public var extraIdProvider: (() -> String?)? {
        get { nil }
        set {}  // A provider that uses the closure declares a stored property with this name.
    }

    /// Does nothing, for a provider that caches no credentials.
    public func clearCachedAuthResponse() {}

    /// Reports an error, because this default implementation has no credentials for the server that the broker
    /// redirected the client to.
    public func getConnectOptions(
        for server: BrokerEndpoint, completion: @escaping @Sendable (Result<ConnectOptions, AuthError>) -> Void
    ) {
        completion(.failure(.otherError(CourierError(noOptionsFor: server) as NSError)))
    }
}
