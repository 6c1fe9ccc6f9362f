import CourierCore
import CourierTransport

/// Watches the system's networks for all clients of an event loop, as long as a client references the watch.
final class NetworkWatch: Sendable {
    /// A function that starts a watcher on a loop.
    typealias Start = (EventLoop, _ report: @escaping @Sendable (Bool) -> Void) -> NetworkWatcher

    private static let share = LoopShare<NetworkWatch>()

    /// Closures that are called with every change, on the loop.
    let listeners = Listeners<NetworkStatus>()
    private let subject = CurrentValueSubject<NetworkStatus, Never>(.available)
    private let loop: EventLoop
    private let watcher: NetworkWatcher

    /// Returns the shared watch of `loop`. If the watch failed to start before, this call tries again, for all clients
    /// that share the watch.
    static func shared(
        on loop: EventLoop, start: Start = { NetworkWatcher.start(on: $0, report: $1) }
    ) -> NetworkWatch {
        var isNew = false
        let watch = share.part(of: loop) {
            isNew = true
            return NetworkWatch(loop, start)
        }
        if !isNew { watch.watcher.tryAgain() }
        return watch
    }

    private init(_ loop: EventLoop, _ start: Start) {
        self.loop = loop
        watcher = start(loop) { [subject, listeners] isAvailable in
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

    /// The current status.
    var status: NetworkStatus { subject.value }

    /// Sends the current status, then every change.
    var publisher: AnyPublisher<NetworkStatus, Never> { subject.eraseToAnyPublisher() }
}
