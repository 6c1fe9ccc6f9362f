import CourierCore
import CourierMQTT
import CourierTesting
import CourierTransport
import Dispatch
import Foundation

/// One client and one broker with a wire between them, both in this process, each with a thread of its own.
struct WireRun {
    private static let topic = "bench/wire"
    /// How many messages of QoS 1 are in flight at most.
    private static let window = 1_000

    let wire: Wire
    let payloadSize: Int
    let keys: Keys

    /// How many messages a second.
    func rate(_ job: Job) async throws -> Double {
        var rules = BrokerConfiguration()
        rules.receiveMaximum = UInt16(Self.window)
        let broker = try LoopbackBroker.start(
            tls: wire.isSecure ? try TLSContext(server: keys.server) : nil,
            webSocket: wire.isWebSocket ? WebSocketConfiguration() : nil, configuration: rules)
        let client = CourierClientFactory().makeMQTTClient(config: configuration(broker.port))
        client.connect()
        try await client.connected()
        let start = ContinuousClock.now
        switch job {
        case .publishQoS0:
            try await Self.publish(job.count, .zero, payloadSize, client)
            // Acknowledged, so that everything before it has arrived, too.
            try await client.publish([0] as [UInt8], to: Self.topic, qos: .one)
        case .publishQoS1:
            try await Self.publish(job.count, .one, payloadSize, client)
        }
        let seconds = (ContinuousClock.now - start) / .seconds(1)
        await client.disconnectAndWait()
        await broker.shutdown()
        return Double(job.count) / seconds
    }

    private func configuration(_ port: UInt16) -> MQTTClientConfig {
        var config = MQTTClientConfig(
            options: ConnectOptions(
                host: "127.0.0.1", port: port, clientId: "wire", username: "", password: "", isCleanSession: true,
                scheme: wire.scheme))
        config.protocolVersion = .version5
        config.maximumInFlight = Self.window
        config.deliveryQueue = DispatchQueue(label: "bench")
        config.networkMonitor = AlwaysAvailableNetwork()
        if wire.isSecure { config.tls = keys.client }
        return config
    }

    private static func publish(
        _ count: Int, _ qos: QoS, _ payloadSize: Int, _ client: any CourierClient
    ) async throws {
        let bytes = [UInt8](repeating: UInt8(ascii: "x"), count: payloadSize)
        for _ in 0..<count {
            while true {
                do {
                    try client.publish(bytes: bytes, to: topic, qos: qos)
                    break
                } catch let error as CourierError where error.code == .queueFull {
                    try await client.readyToPublish()
                }
            }
        }
        // Behind all others, which are acknowledged in order.
        if qos != .zero { try await client.publish(bytes, to: topic + "/last", qos: qos) }
    }
}
