import CourierCore
import CourierMQTT
import CourierTesting
import CourierTransport
import Dispatch
import Foundation

/// Measures one client and one broker in this process. Each has its own thread.
struct WireRun {
    private static let topic = "bench/wire"
    /// The maximum number of QoS 1 messages in flight.
    private static let window = 1_000

    let wire: Wire
    let payloadSize: Int
    let keys: Keys

    /// Returns the number of messages per second.
    func rate(_ job: Job) async throws -> Double {
        let time =
            switch job {
            case .publishQoS0, .publishQoS1: try await publish(job.count, job.qos)
            case .receiveQoS0, .receiveQoS1: try await receive(job.count, job.qos)
            }
        return Double(job.count) / (time / .seconds(1))
    }

    private func publish(_ count: Int, _ qos: QoS) async throws -> Duration {
        var rules = BrokerConfiguration()
        rules.receiveMaximum = UInt16(Self.window)
        let broker = try LoopbackBroker.start(tls: try serverContext(), webSocket: webSocket, configuration: rules)
        let client = CourierClientFactory().makeMQTTClient(config: configuration(broker.port))
        client.connect()
        try await client.connected()
        let start = ContinuousClock.now
        try await Self.publish(count, qos, payloadSize, client)
        // This QoS 1 message is acknowledged after the broker has received all earlier messages.
        if qos == .zero { try await client.publish([0] as [UInt8], to: Self.topic, qos: .one) }
        let time = ContinuousClock.now - start
        await client.disconnectAndWait()
        await broker.shutdown()
        return time
    }

    private func receive(_ count: Int, _ qos: QoS) async throws -> Duration {
        let flood = PublishFlood(
            count: count, topic: Self.topic, payloadSize: payloadSize, qos: qos == .zero ? .atMostOnce : .atLeastOnce)
        // The packet limit includes the client's acknowledgements, because the broker records them too.
        let broker = try ScriptedBroker.start(
            [.connection([.serve(until: .subscribe), .answer, .flood(flood)])], tls: try serverContext(),
            webSocket: webSocket, packetLimit: count + 1_000)
        let client = CourierClientFactory().makeMQTTClient(config: configuration(broker.port))
        let arrivals = Arrivals(count)
        let subscription = client.messagePublisher(topic: Self.topic).sink { (_: Data) in arrivals.note() }
        client.subscribe((Self.topic, qos))
        client.connect()
        let time = await arrivals.time
        subscription.cancel()
        await client.disconnectAndWait()
        await broker.shutdown()
        return time
    }

    private func serverContext() throws -> TLSContext? {
        wire.isSecure ? try TLSContext(server: keys.server) : nil
    }

    private var webSocket: WebSocketConfiguration? { wire.isWebSocket ? WebSocketConfiguration() : nil }

    private func configuration(_ port: UInt16) -> MQTTClientConfig {
        var config = MQTTClientConfig(
            options: ConnectOptions(
                host: "127.0.0.1", port: port, clientId: "wire", username: "", password: "", isCleanSession: true,
                scheme: wire.scheme))
        config.protocolVersion = .version5
        config.limits.maximumInFlight = Self.window
        config.deliveryQueue = DispatchQueue(label: "bench")
        config.environment.networkMonitor = AlwaysAvailableNetwork()
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
        // Messages are acknowledged in order, so the acknowledgement of this message means that all were acknowledged.
        if qos != .zero { try await client.publish(bytes, to: topic + "/last", qos: qos) }
    }
}
