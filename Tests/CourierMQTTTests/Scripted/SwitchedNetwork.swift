import CourierCore

/// A network that a test takes away and gives back.
final class SwitchedNetwork: NetworkMonitor {
    private let subject = CurrentValueSubject<NetworkStatus, Never>(.available)

    var statusPublisher: AnyPublisher<NetworkStatus, Never> { subject.eraseToAnyPublisher() }
    func become(_ status: NetworkStatus) { subject.send(status) }
}
