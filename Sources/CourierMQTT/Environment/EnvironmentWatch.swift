import CourierCore
import CourierTransport

/// Reports changes of the network status, changes of the app's phase, and the end of a suspension of the machine. The
/// watch stops when it is released.
final class EnvironmentWatch {
    /// A change in the environment of a client.
    enum Change: Sendable {
        case network(NetworkStatus)
        case phase(AppPhase)
        /// The machine was suspended, and runs again.
        case resumed
    }

    /// The source of the network status: the system, or the app's monitor.
    private enum Network {
        case system(NetworkWatch)
        case monitor(AnyCancellable)
    }

    private let network: Network
    private let phase: AnyCancellable?
    private let suspend: SuspendWatch

    /// Starts to watch, and calls `change` for each change, on any thread. If `monitor` is `nil`, the system's networks
    /// are watched. If `lifecycle` is `nil`, no phase is reported. Call this initializer on the event loop.
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
