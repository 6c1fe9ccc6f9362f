import CourierTransport
import MQTTCodec
import Synchronization

/// The connections, rules and counts of a ``FaultProxy``.
///
/// Safe to share: rules and counts are behind a lock, and all other mutable state is used only on the loop.
final class ProxyHost: @unchecked Sendable {
    private struct Shared {
        var machine: FaultMachine
        var counts = ProxyCounts()
    }

    let loop: EventLoop
    let brokerEndpoint: @Sendable () -> TransportEndpoint
    private let observer: (@Sendable (ProxyEvent) -> Void)?
    private let shared: Mutex<Shared>
    private var connections: [Int: ProxyConnection] = [:]
    private var lastNumber = 0
    private var isShutDown = false

    init(
        _ brokerEndpoint: @escaping @Sendable () -> TransportEndpoint, _ rules: [FaultRule], on loop: EventLoop,
        _ observer: (@Sendable (ProxyEvent) -> Void)?
    ) {
        self.brokerEndpoint = brokerEndpoint
        self.loop = loop
        self.observer = observer
        shared = Mutex(Shared(machine: FaultMachine(rules)))
    }

    // MARK: Called from any thread

    var counts: ProxyCounts { shared.withLock { $0.counts } }

    func add(_ rule: FaultRule) { shared.withLock { $0.machine.add(rule) } }

    func removeRules() { shared.withLock { $0.machine.removeAll() } }

    // MARK: Called on the loop

    /// Returns the handler of an accepted channel.
    func accept(_ channel: ByteChannel) -> ProxySide {
        loop.preconditionOnLoop()
        lastNumber += 1
        let connection = ProxyConnection(lastNumber, self)
        connections[lastNumber] = connection
        shared.withLock { $0.counts.connections += 1 }
        if isShutDown { loop.execute { connection.end(.shutDown, .reset) } }
        return connection.accept(channel)
    }

    func decide(_ facts: PacketFacts) -> FaultDecision { shared.withLock { $0.machine.decide(facts) } }

    func handled(_ packet: ProxiedPacket) {
        shared.withLock { shared in
            switch packet.sender {
            case .client: shared.counts.packetsFromClients += packet.copyCount
            case .server: shared.counts.packetsFromBroker += packet.copyCount
            }
            if !packet.faults.isEmpty { shared.counts.faults += 1 }
        }
        report(.packet(packet))
    }

    func report(_ event: ProxyEvent) { observer?(event) }

    func closed(_ connection: ProxyConnection) { connections[connection.number] = nil }

    func shutDown() {
        loop.preconditionOnLoop()
        isShutDown = true
        for connection in connections.values.sorted(by: { $0.number < $1.number }) {
            connection.end(.shutDown, .orderly)
        }
    }
}
