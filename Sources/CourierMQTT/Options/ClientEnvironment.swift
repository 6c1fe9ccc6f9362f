public import CourierCore
public import CourierTransport

/// What tells a client about the machine and the app, and the threads that it works on.
///
/// ```swift
/// config.environment.networkMonitor = AlwaysAvailableNetwork()
/// ```
public struct ClientEnvironment {
    /// What tells whether there is a network; the system's by default.
    public var networkMonitor: (any NetworkMonitor)?

    /// What tells when the app is in the background; a program that always is in the foreground by default.
    public var lifecycle: (any AppLifecycle)?

    /// The event loops of this client; those that all clients of the process share by default. A group of one's own has the
    /// size of the read buffer and the priority of the thread that it is made with.
    ///
    /// Shut such a group down only after its clients have ended: after `disconnectAndWait()`, and when nobody holds
    /// them any more. Without its loop nothing of a client goes on, no timeout comes, and whoever still waits, for
    /// `connected()` or an answer, waits for ever.
    public var eventLoops: EventLoopGroup?

    /// The defaults.
    public init() {}
}
