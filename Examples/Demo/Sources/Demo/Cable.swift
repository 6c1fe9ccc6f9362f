import CourierCore
import CourierTesting
import CourierTransport
import Synchronization

/// A simulated network between the clients and the broker. It can be cut and repaired.
///
/// While it is cut, clients connect to a port without a listener, so that the system refuses the connection.
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

    /// Returns the address to which an attempt connects now.
    func endpoint(for options: ConnectOptions) -> TransportEndpoint {
        .tcp(host: options.host, port: isCut.withLock { $0 } ? deadPort : options.port)
    }

    func cut() {
        isCut.withLock { $0 = true }
        broker.dropConnections()
    }

    func mend() { isCut.withLock { $0 = false } }
}
