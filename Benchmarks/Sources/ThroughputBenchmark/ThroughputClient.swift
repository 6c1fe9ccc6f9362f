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

    /// How many events reached a handler by ``close()``; `nil` without one.
    var heardCount: Int? { get }
}

extension ThroughputClient {
    var heardCount: Int? { nil }
}

/// What a client connects to, and what it publishes or receives there.
struct Workload: Sendable {
    /// Of the sink, on 127.0.0.1.
    let port: UInt16
    let qos: Int
    /// In bytes, of every message.
    let payloadSize = 64
    /// Of every message; with them it is MQTT 5, without 3.1.1.
    var userPropertyCount = 0
    /// How many messages of QoS 1 and 2 are in flight at most, in either direction.
    let window: UInt16 = 1_000
    let topic = "bench/throughput"
}

/// Whose speed is measured.
enum Contender: Hashable, Sendable {
    case mosquitto, paho
    /// No library at all: the floor, which shows that the sink limits nobody.
    case socket
    /// libmosquitto with MQTT 5 and user properties.
    case mosquittoWithProperties
    /// Courier by the API that apps use.
    case client(PublicClient.Form)
    /// The same with an event handler.
    case handled(PublicClient.Form)
    /// The same with MQTT 5 and user properties.
    case propertied(PublicClient.Form)
    /// The same with the packet inspector attached, as it is by default.
    case inspected(PublicClient.Form)

    /// The name on a command line.
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

    /// The head of its columns.
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

    /// How many user properties its messages have.
    var userPropertyCount: Int {
        switch self {
        case .mosquittoWithProperties, .propertied: 2
        case .mosquitto, .paho, .socket, .client, .handled, .inspected: 0
        }
    }

    /// Connects and returns once the connection is accepted.
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
