/// The availability of a network. The status does not say whether the broker can be reached.
public enum NetworkStatus: Hashable, Sendable {
    /// At least one network can carry a connection.
    case available

    /// There is no network. The client cannot connect to another machine until a network is available.
    case unavailable
}

/// Reports network changes to the client. When the network returns, the client reconnects at once, without waiting for
/// the next planned attempt.
///
/// Contract: The publisher sends the current status to each new subscriber first, and then every change. It may send
/// from any thread. A monitor may stop watching the system while it has no subscriber. A monitor that cannot determine
/// the status sends only ``NetworkStatus/available``. It never blocks a subscriber and never fails.
public protocol NetworkMonitor: Sendable {
    /// Publishes the current status, then every change.
    var statusPublisher: AnyPublisher<NetworkStatus, Never> { get }
}
