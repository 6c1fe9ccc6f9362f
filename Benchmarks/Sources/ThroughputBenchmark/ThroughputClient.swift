import CPeers
import CourierMQTTChuck

/// One connection of a client library that publishes or receives as fast as the library can.
///
/// The harness calls ``publish(_:)`` or ``receive(_:)`` once per connection, and that call is what it measures: wall time,
/// the processor time of the whole process, and the growth of its memory since before the connection.
protocol ThroughputClient {
    /// Publishes `count` messages of ``Workload/payloadSize`` bytes to ``Workload/topic`` with no more than
    /// ``Workload/window`` of them in flight at QoS 1 and 2, and returns once the last is acknowledged.
    ///
    /// At QoS 0 it may return as soon as the library has taken the last message: the harness itself waits until the
    /// sink has counted it.
    func publish(_ count: Int) async throws

    /// Subscribes to ``Workload/topic`` and returns once `count` messages have been received.
    ///
    /// - Returns: How many bytes their payloads have, which the harness checks.
    func receive(_ count: Int) async throws -> Int

    /// Disconnects. Nothing is measured any more.
    func close() async
}

/// What a client connects to, and what it publishes or receives there.
struct Workload: Sendable {
    /// Of the sink, on 127.0.0.1.
    let port: UInt16
    let qos: Int
    /// In bytes, of every message.
    let payloadSize = 64
    /// How many messages of QoS 1 and 2 are in flight at most, in either direction.
    let window: UInt16 = 1_000
    let topic = "bench/throughput"
}

/// Whose speed is measured.
enum Contender: Hashable, Sendable {
    case courier, mosquitto, paho
    /// No library at all: the floor, which shows that the sink limits nobody.
    case socket
    /// Courier by the API that apps use.
    case client(PublicClient.Form)
    /// The same with the packet inspector attached, as it is by default.
    case inspected(PublicClient.Form)

    /// Those of the table for engine and transport, in the order of the columns.
    static let columns: [Contender] = [.courier, .mosquitto, .paho, .socket]

    /// The name on a command line.
    var name: String {
        switch self {
        case .courier: "courier"
        case .mosquitto: "mosquitto"
        case .paho: "paho"
        case .socket: "socket"
        case .client(let form): "client-\(form.rawValue)"
        case .inspected(let form): "inspected-\(form.rawValue)"
        }
    }

    init?(name: String) {
        let all = Self.columns + PublicClient.Form.allCases.flatMap { [.client($0), .inspected($0)] }
        guard let found = all.first(where: { $0.name == name }) else { return nil }
        self = found
    }

    /// The head of its columns.
    var title: String {
        switch self {
        case .courier: "Courier"
        case .mosquitto: "mosquitto"
        case .paho: "Paho C"
        case .socket: "socket"
        case .client(let form): form.rawValue
        case .inspected(let form): "\(form.rawValue), inspected"
        }
    }

    /// Connects and returns once the connection is accepted.
    func connect(_ workload: Workload) async throws -> any ThroughputClient {
        switch self {
        case .courier: try await CourierClient(workload)
        case .mosquitto: try PeerClient(peer_mosquitto, workload)
        case .paho: try PeerClient(peer_paho, workload)
        case .socket: try BareSocketClient(workload)
        case .client(let form): try await PublicClient(workload, form)
        case .inspected(let form): try await PublicClient(workload, form, observer: MQTTChuckLogger())
        }
    }
}
