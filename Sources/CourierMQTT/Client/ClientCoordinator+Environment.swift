import CourierCore
import CourierTransport

/// Handles changes of the network, changes between foreground and background, and the end of a suspension of the
/// machine.
extension ClientCoordinator {
    /// Starts to watch the environment at the first `connect()`. Later calls do nothing.
    func startOnce() {
        guard environment == nil, !isReleased else { return }
        tellTopics()
        // A monitor may report its current value while the initializer below runs. Handle this value at once, because
        // the client must know the value before it handles the app's `connect()`.
        isLookingAround = true
        defer { isLookingAround = false }
        environment = EnvironmentWatch(network: settings.networkMonitor, lifecycle: settings.lifecycle, on: loop) {
            [weak self] change in
            guard let self else { return }
            if loop.isOnLoop, isLookingAround { return dependenciesChanged(change) }
            loop.execute { [self] in dependenciesChanged(change) }
        }
        scheduleCleanup()
    }

    func dependenciesChanged(_ change: EnvironmentWatch.Change) {
        guard !isReleased else { return }
        switch change {
        case .network(let status):
            network = status
            keepAliveDisturbed()
            tell(.networkChanged(networkForBroker))
        case .phase(let phase): tell(.phaseChanged(phase))
        case .resumed:
            keepAliveDisturbed()
            tell(.resumedFromSuspend)
        }
    }

    /// The network status for the current broker. If the broker is on this machine, the status is always `available`,
    /// because the connection needs no network.
    var networkForBroker: NetworkStatus { info.map(settings.isLocal) == true ? .available : network }
}
