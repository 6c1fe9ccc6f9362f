import CourierMQTT
import Foundation
import Synchronization

/// The environment of one conversation: a broker, the way to it, and a topic prefix that no other conversation uses.
final class Meeting: Sendable {
    private static let lastNumber = Atomic(0)

    let broker: any Broker
    let way: Way
    /// The prefix of all topics of the conversation.
    let root: String
    private let parties = Mutex<[Party]>([])
    private let relays = Mutex<[Relay]>([])

    init(_ broker: any Broker, _ way: Way) {
        self.broker = broker
        self.way = way
        root = "interop/\(Self.lastNumber.add(1, ordering: .relaxed).newValue)"
    }

    func topic(_ rest: String) -> String { root + "/" + rest }

    /// Creates a client that is not connected yet. `name` must be unique in the conversation. By default, the client
    /// uses the meeting's way and the broker's right password.
    func party(
        _ name: String, by way: Way? = nil, keepsSession: Bool = false, password: String? = nil,
        _ change: (inout MQTTClientConfig) -> Void = { _ in }
    ) -> Party {
        let id = root.replacing("/", with: "-") + "-" + name
        let account = Account(user: broker.account.user, password: password ?? broker.account.password)
        let way = way ?? self.way
        var config = MQTTClientConfig(options: way.options(clientID: id, account, isCleanSession: !keepsSession))
        config.logHandler = nil  // No log, because failures are part of the trial.
        config.tls = way.tls
        config.proxy = way.proxy
        config.messageAdapters = [DataMessageAdapter(), TextMessageAdapter()]
        config.autoReconnectInterval = 1
        config.maxAutoReconnectInterval = 2
        config.environment.networkMonitor = AlwaysAvailableNetwork()
        config.deliveryQueue = DispatchQueue(label: id)
        change(&config)
        let party = Party(name, config)
        parties.withLock { $0.append(party) }
        return party
    }

    /// Creates and connects a client.
    func connectedParty(
        _ name: String, by way: Way? = nil, keepsSession: Bool = false,
        _ change: (inout MQTTClientConfig) -> Void = { _ in }
    ) async throws -> Party {
        let party = party(name, by: way, keepsSession: keepsSession, change)
        party.client.connect()
        try await party.client.connected()
        return party
    }

    /// Creates a client, connects it and subscribes it to a filter below ``root``.
    func reader(
        _ name: String = "reader", of filter: String, qos: QoS = .one, by way: Way? = nil, keepsSession: Bool = false
    ) async throws -> Party {
        let party = try await connectedParty(name, by: way, keepsSession: keepsSession)
        let granted = try await party.client.subscribe(to: topic(filter), qos: qos)
        try check(granted == qos, "a subscription with QoS \(qos) was granted QoS \(granted)")
        return party
    }

    /// Starts a relay before the broker. Returns the relay and the way through it.
    func relay() throws -> (relay: Relay, way: Way) {
        let relay = try Relay(to: way.endpoint)
        relays.withLock { $0.append(relay) }
        return (relay, way.through(relay))
    }

    /// A summary of all clients, for a failure report.
    var state: String {
        parties.withLock { $0 }.map(\.summary).joined(separator: "; ")
    }

    /// Ends all clients and relays of the meeting.
    func end() async {
        for party in parties.withLock({ $0 }) {
            await party.client.disconnectAndWait()
            party.client.destroy()
        }
        for relay in relays.withLock({ $0 }) { await relay.end() }
    }
}
