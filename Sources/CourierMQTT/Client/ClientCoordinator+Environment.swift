import CourierCore
import CourierTransport

/// The world around.
extension ClientCoordinator {
    /// Looks at network and phase from the first `connect()` on.
    func startOnce() {
        guard environment == nil, !isReleased else { return }
        tellTopics()
        // What is said at once describes the world in which the app asks, and comes before what it asks for.
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
