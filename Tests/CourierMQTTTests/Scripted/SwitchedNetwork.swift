import CourierCore

/// A network that a test can make unavailable and available.
final class SwitchedNetwork: NetworkMonitor {
    private let subject = CurrentValueSubject<NetworkStatus, Never>(.available)

    var statusPublisher: AnyPublisher<NetworkStatus, Never> { subject.eraseToAnyPublisher() }
    func become(_ status: NetworkStatus) { subject.send(status) }
}
