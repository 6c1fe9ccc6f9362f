import Foundation

/// The app's source of credentials: asked for ``ConnectOptions`` whenever a connection attempt needs them.
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
/// The client keeps what it got across reconnects; a cache is for what is to be there after the next start.
///
/// Contract. The client keeps the provider alive, and calls it from one place, its delivery queue (the main queue unless
/// configured otherwise), never twice at the same instant; so a provider needs no lock and need not be `Sendable`. It must
/// not block that queue. It may be asked again before it has answered: see ``getConnectOptions(completion:)``.
/// ``extraIdProvider`` is for the app's own code: the client does not read it. New code may prefer
/// ``ConnectionServiceProvider``, which is `async`.
public protocol IConnectionServiceProvider: AnyObject {
    /// A string that identifies this client among all clients of the broker, the same on every call.
    ///
    /// The client connects as ``ConnectOptions/clientId`` of the options that the provider gives, so put it in there, too. With
    /// `isMessagePersistenceEnabled` and without a `messageStore`, it reads this id when it is made, on the thread that makes
    /// it: it names the file of the messages.
    var clientId: String { get }

    /// Finds the options for a server that the broker has referred the client to, and reports them, or why there are none. The
    /// client asks this for the hosts that its configuration allows with credentials of their own, and for no others. By
    /// default there are none.
    ///
    /// The client connects to `server`, whatever host and port the options name, and by TLS if the broker was connected by TLS.
    ///
    /// - Parameters:
    ///   - server: Host and port of the server. The broker named them.
    ///   - completion: Takes the result, as that of ``getConnectOptions(completion:)``.
    func getConnectOptions(
        for server: BrokerEndpoint, completion: @escaping @Sendable (Result<ConnectOptions, AuthError>) -> Void
    )

    /// Options that can be used without asking, for example what an earlier process has stored; `nil`, the default,
    /// means ask. After a refusal they are not used until ``getConnectOptions(completion:)`` has succeeded.
    var existingConnectOptions: ConnectOptions? { get }

    /// A further part of the client id, for providers that build it from several parts.
    ///
    /// The client neither reads nor sets it. A provider that does not declare it has none: the default reads `nil` and ignores what is set.
    var extraIdProvider: (() -> String?)? { get set }

    /// Finds the options for the next connection attempt and reports them, or why there are none.
    ///
    /// An earlier call may still be unanswered, when the app has disconnected and connected again meanwhile, or after the
    /// authentication timeout. Its answer is not heard any more.
    ///
    /// - Parameter completion: Takes the result, from any thread, now or later. Only the first call counts, and
    ///   none after the authentication timeout or once the app has disconnected. A provider may declare it with or
    ///   without `@Sendable`; it needs the attribute in Swift 6 mode to hand it to another thread.
    func getConnectOptions(completion: @escaping @Sendable (Result<ConnectOptions, AuthError>) -> Void)

    /// Forgets cached credentials: the broker has just refused them, or has moved and not said where to. Does nothing
    /// by default.
    func clearCachedAuthResponse()
}

extension IConnectionServiceProvider {
    /// `nil`: whenever the client asks, it asks ``getConnectOptions(completion:)``.
    public var existingConnectOptions: ConnectOptions? { nil }

    /// Always `nil`; setting it does nothing.
    public var extraIdProvider: (() -> String?)? {
        get { nil }
        set {}  // A provider that wants it declares a stored property of this name.
    }

    /// Does nothing: there is no cache.
    public func clearCachedAuthResponse() {}

    /// Reports that the provider has no credentials for another server.
    public func getConnectOptions(
        for server: BrokerEndpoint, completion: @escaping @Sendable (Result<ConnectOptions, AuthError>) -> Void
    ) {
        completion(.failure(.otherError(CourierError(noOptionsFor: server) as NSError)))
    }
}
