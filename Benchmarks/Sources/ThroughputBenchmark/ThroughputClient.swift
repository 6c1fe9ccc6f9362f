import CPeers
import CourierMQTTChuck

/// One connection of a client library that publishes or receives as fast as the library can.
///
/// The harness calls ``publish(_:)`` or ``receive(_:)`` once per connection. It measures the wall time and the CPU time
/// of that call, and the growth of the process's memory since before the connection.
protocol ThroughputClient {
    /// Publishes `count` messages of ``Workload/payloadSize`` bytes to ``Workload/topic``. At QoS 1 and 2, at most
    /// ``Workload/window`` messages are in flight, and the call returns when the last is acknowledged.
    ///
    /// At QoS 0, the call may return when the library has accepted the last message. The harness then waits until the
    /// sink has counted it.
    func publish(_ count: Int) async throws

    /// Subscribes to ``Workload/topic`` and returns once `count` messages have been received.
    ///
    /// - Returns: The total size of the payloads in bytes, which the harness checks.
    func receive(_ count: Int) async throws -> Int

    /// Disconnects. This call is not measured.
    func close() async

    /// The number of events that a handler received until ``close()``, or `nil` if there is no handler.
    var heardCount: Int? { get }
}

extension ThroughputClient {
    var heardCount: Int? { nil }
}

/// The connection parameters of a client, and the messages that it publishes or receives.
struct Workload: Sendable {
    /// The port of the sink on 127.0.0.1.
    let port: UInt16
    let qos: Int
    /// The payload size of every message in bytes.
    let payloadSize = 64
    /// The number of user properties in every message. If it is 0, MQTT 3.1.1 is used, otherwise MQTT 5.
    var userPropertyCount = 0
    /// The maximum number of QoS 1 and 2 messages in flight, in either direction.
    let window: UInt16 = 1_000
    let topic = "bench/throughput"
}

/// The libraries and configurations whose speed is compared.
enum Contender: Hashable, Sendable {
    case mosquitto, paho
    /// A bare socket without a library. It must be faster than all libraries, which shows that the sink does not limit
    /// them.
    case socket
    /// libmosquitto with MQTT 5 and user properties.
    case mosquittoWithProperties
    /// Courier with the public API that apps use.
    case client(PublicClient.Form)
    /// Courier with an event handler.
    case handled(PublicClient.Form)
    /// Courier with MQTT 5 and user properties.
    case propertied(PublicClient.Form)
    /// Courier with the packet inspector attached, with its default options.
    case inspected(PublicClient.Form)

    /// The name of the contender on the command line.
    var name: String {
        switch self {
        case .mosquitto: "mosquitto"
        case .paho: "paho"
        case .socket: "socket"
        case .mosquittoWithProperties: "mosquitto-properties"
        case .client(let form): "client-\(form.rawValue)"
        case .handled(let form): "handled-\(form.rawValue)"
        case .propertied(let form): "propertied-\(form.rawValue)"
        case .inspected(let form): "inspected-\(form.rawValue)"
        }
    }

    init?(name: String) {
        let forms = PublicClient.Form.allCases.flatMap {
            [.client($0), .handled($0), .propertied($0), .inspected($0)] as [Contender]
        }
        let all = [.mosquitto, .paho, .socket, .mosquittoWithProperties] + forms
        guard let found = all.first(where: { $0.name == name }) else { return nil }
        self = found
    }

    /// The title of the contender in messages about failed runs.
    var title: String {
        switch self {
        case .mosquitto: "mosquitto"
        case .paho: "Paho C"
        case .socket: "socket"
        case .mosquittoWithProperties: "mosquitto, properties"
        case .client(let form): form.rawValue
        case .handled(let form): "\(form.rawValue), handler"
        case .propertied(let form): "\(form.rawValue), properties"
        case .inspected(let form): "\(form.rawValue), inspected"
        }
    }

    /// The number of user properties in each message.
    var userPropertyCount: Int {
        switch self {
        case .mosquittoWithProperties, .propertied: 2
        case .mosquitto, .paho, .socket, .client, .handled, .inspected: 0
        }
    }

    /// Connects. Returns when the broker has accepted the connection.
    func connect(_ workload: Workload) async throws -> any ThroughputClient {
        switch self {
        case .mosquitto, .mosquittoWithProperties: try PeerClient(peer_mosquitto, workload)
        case .paho: try PeerClient(peer_paho, workload)
        case .socket: try BareSocketClient(workload)
        case .client(let form), .propertied(let form): try await PublicClient(workload, form)
        case .handled(let form): try await PublicClient(workload, form, handler: EventCounter())
        case .inspected(let form): try await PublicClient(workload, form, observer: MQTTChuckLogger())
        }
    }
}
