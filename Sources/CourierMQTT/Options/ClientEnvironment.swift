public import CourierCore
public import CourierTransport

/// The parts of the system and the program that a client uses, such as its network monitor and event loops.
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

    /// The local address and network interface that connections use. With `nil`, the default, the operating system
    /// chooses both. If the address or interface does not exist, the attempt fails, and the client tries again after
    /// the usual pause.
    public var localBinding: LocalBinding?

    /// The tracing system that gets and sets the trace contexts of messages; `nil` by default.
    public var tracing: MessageTracing?

    /// Makes an environment with the default values.
    public init() {}
}
