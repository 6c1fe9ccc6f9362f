public import CourierCore
public import CourierTransport

/// Reports whether the machine has a network, according to the operating system.
///
/// ```swift
/// let monitor = SystemNetworkMonitor(loop: loop)
/// monitor.statusPublisher.sink { print($0) }.store(in: &cancellables)
/// ```
///
/// A network is available if all of these conditions are met:
///
/// - A link other than the loopback is up.
/// - The machine has an address with more than link-local scope.
/// - A route uses a link that is up and is not the loopback.
///
/// A default route is not required. Connections within the machine work without a network.
///
/// The system is watched as long as the publisher or a subscription to it is referenced; all monitors of a loop share
/// one watch. The status is ``CourierCore/NetworkStatus/available`` until the system was read for the first time, and
/// also if the system does not report its networks. If a watch failed to start because no file descriptor was free, the
/// next publisher or client of the loop tries to start it again. Several changes within ``settleTime`` are reported as
/// one change.
public struct SystemNetworkMonitor: NetworkMonitor {
    /// The time to wait for more changes before the state of the system's networks is read, 250 ms. A link that goes up
    /// and down quickly is reported at most once in that time.
    public static let settleTime = NetworkWatcher.defaultSettleTime

    private let loop: EventLoop

    /// Makes a monitor. The monitor watches nothing until the first use of its publisher.
    ///
    /// - Parameter loop: The event loop that watches the system and sends the changes.
    public init(loop: EventLoop) { self.loop = loop }

    /// Sends the current status, then every change, on the event loop.
    public var statusPublisher: AnyPublisher<NetworkStatus, Never> {
        let watch = NetworkWatch.shared(on: loop)
        // The closure keeps the watch alive as long as the publisher or a subscription exists.
        return watch.publisher.map { [watch] status in
            withExtendedLifetime(watch) { status }
        }
    }
}
