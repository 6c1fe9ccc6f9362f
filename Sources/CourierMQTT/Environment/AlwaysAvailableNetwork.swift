public import CourierCore

/// A network that is always available, for servers and for tests that are not about networks.
public struct AlwaysAvailableNetwork: NetworkMonitor {
    // All instances share the subject, so that a subscription does not end when its instance is released.
    private static let subject = CurrentValueSubject<NetworkStatus, Never>(.available)

    /// Makes a network that is always available.
    public init() {}

    /// Sends ``NetworkStatus/available`` once.
    public var statusPublisher: AnyPublisher<NetworkStatus, Never> { Self.subject.eraseToAnyPublisher() }
}
