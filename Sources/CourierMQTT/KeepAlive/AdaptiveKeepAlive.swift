/// Measures how long an idle connection stays open on the current network, and sends no more pings than necessary.
///
/// NATs, firewalls and load balancers drop a connection that was idle for too long, and each has its own limit. A ping
/// just before that limit keeps the connection open. Earlier pings waste power and traffic. So the client first pings
/// after ``minimumInterval`` without traffic. Each time the broker answers, the next interval is one ``step`` longer,
/// up to ``maximumInterval``. If a connection does not survive an interval, the client returns to the longest interval
/// that worked. The client remembers this interval for the network. If a connection is lost after less than
/// ``minimumInterval`` without traffic, no interval changes. The same is true if the time without traffic was much
/// longer than planned, for example, because the process was stopped. When the interval changes, the log reports the
/// new interval at level info.
///
/// ```swift
/// var keepAlive = AdaptiveKeepAlive(maximumInterval: .seconds(1_200))
/// keepAlive.memory = stored ?? KeepAliveMemory()
/// keepAlive.memoryChanged = { memory in store(memory) }
/// config.session.adaptiveKeepAlive = keepAlive
/// ```
///
/// The adaptive keep-alive replaces `ConnectOptions.keepAlive`, which is ignored. CONNECT announces a keep-alive that
/// is longer than ``maximumInterval``. If an MQTT 5 broker asks for a shorter keep-alive, the client uses the broker's
/// value. TCP keep-alive probes are off, because each probe is traffic.
public struct AdaptiveKeepAlive: Sendable {
    /// The shortest interval without traffic before a ping, which is also the interval that is tried first. The value
    /// is 60 s by default, and at least 100 ms.
    public var minimumInterval: Duration
    /// The longest interval without traffic that is tried; 15 min by default, 12 h at most.
    public var maximumInterval: Duration
    /// The time that the client adds to the longest interval that a connection survived. The sum is the next interval
    /// that is tried. The step is 60 s by default, and at least 100 ms.
    public var step: Duration
    /// The time after which an interval that failed is tried again, because the loss may have had another cause; 24 h
    /// by default.
    public var retryTime = Duration.seconds(86_400)
    /// The intervals that an earlier client found and the app stored, at most one entry for each network; empty by
    /// default. The client makes its own copy, and never changes this value.
    public var memory = KeepAliveMemory()
    /// A closure that stores the intervals that the client has found. The closure is called on the delivery queue at
    /// every change, at most once for each ping and each lost connection. With `nil`, the default, the intervals are
    /// lost when the client ends.
    public var memoryChanged: (@Sendable (KeepAliveMemory) -> Void)?
    /// Returns the name of the current network, or `nil` if the name is unknown. The client has a separate interval for
    /// each name and for `nil`. By default, the closure returns ``systemNetwork()``, a name made from the default
    /// route. The closure is called on the event loop once for each connection, and must not block.
    public var network: @Sendable () -> String? = { AdaptiveKeepAlive.systemNetwork() }

    /// Makes a keep-alive with these bounds. The bounds are checked when the client is made.
    ///
    /// - Parameters:
    ///   - minimumInterval: The shortest interval without traffic before a ping; 60 s by default.
    ///   - maximumInterval: The longest interval that is tried; 15 min by default.
    ///   - step: The time that is added to an interval that a connection survived; 60 s by default.
    public init(
        minimumInterval: Duration = .seconds(60), maximumInterval: Duration = .seconds(900),
        step: Duration = .seconds(60)
    ) {
        self.minimumInterval = minimumInterval
        self.maximumInterval = maximumInterval
        self.step = step
    }
}
