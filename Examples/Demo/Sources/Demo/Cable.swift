import CourierCore
import CourierTesting
import CourierTransport
import Synchronization

/// The network between the clients and the broker, which can be cut and mended.
///
/// While it is cut, connections are led to a port where nobody listens, so that the system refuses them.
final class Cable: Sendable {
    private let broker: LoopbackBroker
    private let deadPort: UInt16
    private let isCut = Mutex(false)

    init(to broker: LoopbackBroker) async throws {
        self.broker = broker
        let nobody = try LoopbackBroker.start()
        deadPort = nobody.port
        await nobody.shutdown()
    }

    /// Where an attempt goes now.
    func endpoint(for options: ConnectOptions) -> TransportEndpoint {
        .tcp(host: options.host, port: isCut.withLock { $0 } ? deadPort : options.port)
    }

    func cut() {
        isCut.withLock { $0 = true }
        broker.dropConnections()
    }

    func mend() { isCut.withLock { $0 = false } }
}
