/// Whether the system has a network. It does not show whether the broker can be reached.
public enum NetworkStatus: Hashable, Sendable {
    /// At least one network can carry a connection.
    case available

    /// There is no network. Connecting to another machine is pointless until there is one.
    case unavailable
}

/// Reports network changes to the client, so that it reconnects at once and does not wait for the next interval.
///
/// Contract: The publisher sends the present status to each new subscriber first, and then every change. It may send
/// from any thread. It may watch the system only while it has a subscriber. A monitor that cannot determine the status
/// sends only ``NetworkStatus/available``. It never blocks a subscriber and never fails.
public protocol NetworkMonitor: Sendable {
    /// Publishes the present status, then every change.
    var statusPublisher: AnyPublisher<NetworkStatus, Never> { get }
}
