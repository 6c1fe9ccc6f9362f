import CourierCore
import CourierTransport

/// The world around.
extension ClientCoordinator {
    /// Looks at network and phase from the first `connect()` on.
    func startOnce() {
        guard environment == nil, !isReleased else { return }
        tellTopics()
        // Values that a monitor reports at once describe the present state, and are handled before the app's call.
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

    /// A broker on this machine is reached without any network.
    var networkForBroker: NetworkStatus { info.map(settings.isLocal) == true ? .available : network }
}
