/// Finds out how long a quiet connection stays open on the present network, and sends no more pings than that takes.
///
/// NATs, firewalls and load balancers forget a connection that has carried nothing for a while, each after its own time.
/// A ping just before that time keeps the connection open; every earlier one costs power and traffic for nothing. So
/// the client waits for ``minimumInterval`` first and, each time the broker has answered after a silence, for one
/// ``step`` longer, up to ``maximumInterval``. When a connection does not survive a silence, the client goes back to the
/// longest that did, stays there on that network, and remembers it.
///
/// ```swift
/// var keepAlive = AdaptiveKeepAlive(maximumInterval: .seconds(1_200))
/// keepAlive.memory = stored ?? KeepAliveMemory()
/// keepAlive.memoryChanged = { memory in store(memory) }
/// config.session.adaptiveKeepAlive = keepAlive
/// ```
///
/// It takes the place of `ConnectOptions.keepAlive`, which is not looked at. CONNECT announces a keep-alive that leaves
/// room for ``maximumInterval``; a broker of MQTT 5 may ask for less, and then gets it. The probes of TCP are off, as
/// they would end every silence.
public struct AdaptiveKeepAlive: Sendable {
    /// The shortest silence that is followed by a ping, and the first; 60 s by default, 100 ms at least.
    public var minimumInterval: Duration
    /// The longest silence that is tried; 15 min by default, 12 h at most.
    public var maximumInterval: Duration
    /// How much longer the next silence is than the last that the connection survived; 60 s by default, 100 ms at least.
    public var step: Duration
    /// How long an interval that was too long is not tried again; 24 h by default. A loss may have had another cause.
    public var retryTime = Duration.seconds(86_400)
    /// What is known already; nothing by default. The client keeps a copy of its own.
    public var memory = KeepAliveMemory()
    /// Takes what the client has found out, to be stored; called on the delivery queue at every change, which is at most
    /// once for each ping and each lost connection. `nil`, the default, remembers for the life of the client.
    public var memoryChanged: (@Sendable (KeepAliveMemory) -> Void)?
    /// Names the network that the machine is on, by which the findings are kept apart; the default route by default, as
    /// ``systemNetwork()`` tells it. `nil` is a network like any other. Called on the event loop once for each
    /// connection; it must not block.
    public var network: @Sendable () -> String? = { AdaptiveKeepAlive.systemNetwork() }

    /// Collects the bounds; the client refuses contradictions when it is made.
    ///
    /// - Parameters:
    ///   - minimumInterval: The shortest silence that is followed by a ping; 60 s by default.
    ///   - maximumInterval: The longest silence that is tried; 15 min by default.
    ///   - step: By how much the silence grows; 60 s by default.
    public init(
        minimumInterval: Duration = .seconds(60), maximumInterval: Duration = .seconds(900),
        step: Duration = .seconds(60)
    ) {
        self.minimumInterval = minimumInterval
        self.maximumInterval = maximumInterval
        self.step = step
    }
}
