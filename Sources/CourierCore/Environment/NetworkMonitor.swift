/// Whether a network is there, as far as the system knows; not whether the broker can be reached.
public enum NetworkStatus: Hashable, Sendable {
    /// At least one network could carry a connection.
    case available

    /// No network is there; connecting is pointless until one is.
    case unavailable
}

/// Reports network changes to the client, so that it reconnects at once instead of at the next interval.
///
/// Contract. The publisher gives the present status to each new subscriber first, and then changes only, from any
/// thread. It may watch the system only while it has a subscriber. A monitor that cannot tell says
/// ``NetworkStatus/available`` and nothing more. It never blocks a subscriber and never fails.
public protocol NetworkMonitor: Sendable {
    /// The present status, then every change.
    var statusPublisher: AnyPublisher<NetworkStatus, Never> { get }
}
