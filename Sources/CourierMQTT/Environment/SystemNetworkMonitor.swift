public import CourierCore
public import CourierTransport

/// Tells whether the machine is on a network, as the operating system sees it.
///
/// ```swift
/// let monitor = SystemNetworkMonitor(loop: loop)
/// monitor.statusPublisher.sink { print($0) }.store(in: &cancellables)
/// ```
///
/// A network is there when a link other than the loopback is up, the machine has an address of more than local scope,
/// and a route leads out of such a link; it need not be a default route. The status says nothing of connections within
/// the machine, which work without a network.
///
/// The system is watched while somebody holds the publisher or a subscription to it, once for all monitors of a loop.
/// Until the first look at the system is over, which takes a moment, and wherever the system does not tell, the status
/// is ``CourierCore/NetworkStatus/available``. A watch that could not begin for want of a descriptor is tried again with the
/// next publisher or client of the loop. Changes within ``settleTime`` are told as one.
public struct SystemNetworkMonitor: NetworkMonitor {
    /// How long to wait for more changes before looking at the system, 250 ms: a link that flaps is reported at most
    /// once in that time.
    public static let settleTime = NetworkWatcher.defaultSettleTime

    private let loop: EventLoop

    /// Makes a monitor, which does nothing yet.
    ///
    /// - Parameter loop: Where the system is watched and changes are sent.
    public init(loop: EventLoop) { self.loop = loop }

    /// The present status, then every change, sent on the loop.
    public var statusPublisher: AnyPublisher<NetworkStatus, Never> {
        let watch = NetworkWatch.shared(on: loop)
        // What the closure captures lives as long as the publisher and each subscription to it.
        return watch.publisher.map { [watch] status in
            withExtendedLifetime(watch) { status }
        }
    }
}
