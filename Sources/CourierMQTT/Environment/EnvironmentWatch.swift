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

    private let subscriptions: [AnyCancellable]
    private let suspend: SuspendWatcher

    /// Watches, and tells `change` from any thread.
    init(
        network: any NetworkMonitor, lifecycle: any AppLifecycle, on loop: EventLoop,
        _ change: @escaping @Sendable (Change) -> Void
    ) {
        subscriptions = [
            network.statusPublisher.sink { change(.network($0)) },
            lifecycle.phasePublisher.sink { change(.phase($0)) },
        ]
        suspend = SuspendWatcher.start(on: loop) { _ in change(.resumed) }
    }

    deinit { suspend.stop() }
}
