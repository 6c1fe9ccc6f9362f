import CourierCore
import CourierTransport

/// What all who look at the networks from one loop share; it watches as long as somebody holds it.
final class NetworkWatch: Sendable {
    private static let share = LoopShare<NetworkWatch>()

    /// Told of every change, on the loop.
    let listeners = Listeners<NetworkStatus>()
    private let subject = CurrentValueSubject<NetworkStatus, Never>(.available)
    private let loop: EventLoop
    private let watcher: NetworkWatcher

    /// What watches from `loop` as long as somebody holds it.
    static func shared(on loop: EventLoop) -> NetworkWatch { share.part(of: loop) { NetworkWatch(loop) } }

    private init(_ loop: EventLoop) {
        self.loop = loop
        watcher = NetworkWatcher.start(on: loop) { [subject, listeners] isAvailable in
            let status: NetworkStatus = isAvailable ? .available : .unavailable
            guard status != subject.value else { return }
            subject.send(status)
            listeners.tell(status)
        }
    }

    deinit {
        watcher.stop()
        Self.share.ended(on: loop)
    }

    /// The present status.
    var status: NetworkStatus { subject.value }

    /// The present status, then every change.
    var publisher: AnyPublisher<NetworkStatus, Never> { subject.eraseToAnyPublisher() }
}
