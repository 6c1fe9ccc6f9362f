public import CourierCore
public import CourierTransport

/// The network monitor, the app's lifecycle, and the event loops of a client.
///
/// ```swift
/// config.environment.networkMonitor = AlwaysAvailableNetwork()
/// ```
public struct ClientEnvironment {
    /// Reports whether a network is available. By default (`nil`), the client watches the system's networks.
    public var networkMonitor: (any NetworkMonitor)?

    /// Reports when the app enters the background. By default, the app is always in the foreground.
    public var lifecycle: (any AppLifecycle)?

    /// The event loops of this client. By default, all clients of the process share one group. Your own group can have
    /// another read buffer size and thread priority.
    ///
    /// Shut your group down only after `disconnectAndWait()` has returned and all references to its clients are
    /// released. After the shutdown, no timeout fires, and callers that wait for `connected()` or a response wait
    /// forever.
    public var eventLoops: EventLoopGroup?

    /// Makes an environment with the default values.
    public init() {}
}
