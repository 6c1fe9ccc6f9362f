import CourierCore
import CourierTransport

/// Brings what happens around a client to its loop: networks, the app's phase, a machine that slept. Ends when dropped.
final class EnvironmentWatch {
    /// What happened.
    enum Change: Sendable {
        case network(NetworkStatus)
        case phase(AppPhase)
        /// The machine was suspended, and is awake again.
        case resumed
    }

    /// The watch of the system's networks, or the subscription to the app's monitor.
    private enum Network {
        case system(NetworkWatch)
        case monitor(AnyCancellable)
    }

    private let network: Network
    private let phase: AnyCancellable?
    private let suspend: SuspendWatch

    /// Watches, and tells `change` from any thread; without a monitor the system is looked at, without a lifecycle there are
    /// no phases. On the loop.
    init(
        network monitor: (any NetworkMonitor)?, lifecycle: (any AppLifecycle)?, on loop: EventLoop,
        _ change: @escaping @Sendable (Change) -> Void
    ) {
        loop.preconditionOnLoop()
        suspend = SuspendWatch.shared(on: loop)
        if let monitor {
            network = .monitor(
                monitor.statusPublisher.subscribe { if case .value(let status) = $0 { change(.network(status)) } })
        } else {
            network = .system(NetworkWatch.shared(on: loop))
        }
        phase = lifecycle?.phasePublisher.subscribe { if case .value(let phase) = $0 { change(.phase(phase)) } }
        suspend.listeners.add(self) { change(.resumed) }
        guard case .system(let watch) = network else { return }
        watch.listeners.add(self) { change(.network($0)) }
        change(.network(watch.status))
    }

    deinit {
        suspend.listeners.remove(self)
        if case .system(let watch) = network { watch.listeners.remove(self) }
    }
}
