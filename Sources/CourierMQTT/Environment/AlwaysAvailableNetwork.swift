public import CourierCore

/// A network that is always there: for servers, and for tests that are not about networks.
public struct AlwaysAvailableNetwork: NetworkMonitor {
    // One for all, so that no subscription ends because a monitor is dropped.
    private static let subject = CurrentValueSubject<NetworkStatus, Never>(.available)

    /// Makes such a network; all are alike.
    public init() {}

    /// ``NetworkStatus/available``, and nothing more.
    public var statusPublisher: AnyPublisher<NetworkStatus, Never> { Self.subject.eraseToAnyPublisher() }
}
