import BenchmarkHarness
import CourierCore
import CourierMQTT
import CourierTransport
import Dispatch
import Foundation
import Synchronization

/// Courier as an app uses it: the client of `CourierMQTT`, with one of its APIs for publishing or reading.
final class PublicClient: ThroughputClient, Sendable {
    /// The API that is used for publishing or reading.
    enum Form: String, CaseIterable, Sendable {
        /// `publish(bytes:…)`, with a completion for QoS 1 and 2.
        case bytes
        /// `publish(data:…)` with Foundation's `Data`, and a completion for QoS 1 and 2.
        case data
        /// `await publish(…)` with bytes, called from 1,000 tasks.
        case await
        /// A `for try await` loop over messages.
        case loop
        /// `messagePublisher(topic:).sink` with `Data`, on a queue.
        case sink
    }

    private let workload: Workload
    private let form: Form
    private let client: any CourierCore.CourierClient
    private let handler: EventCounter?
    private let properties: MessageProperties

    /// Connects. Every packet is reported to `observer`, and every event to `handler`.
    init(
        _ workload: Workload, _ form: Form, observer: (any PacketObserver)? = nil, handler: EventCounter? = nil
    ) async throws {
        self.workload = workload
        self.form = form
        self.handler = handler
        properties = MessageProperties(
            userProperties: (0..<workload.userPropertyCount).map {
                MessageProperties.UserProperty("key\($0 + 1)", "value\($0 + 1)")
            })
        var config = MQTTClientConfig(
            options: ConnectOptions(
                host: "127.0.0.1", port: workload.port, clientId: "courier", username: "", password: "",
                isCleanSession: true))
        config.protocolVersion = workload.userPropertyCount > 0 ? .version5 : .version311
        config.limits.maximumInFlight = Int(workload.window)
        config.deliveryQueue = DispatchQueue(label: "bench")
        config.environment.networkMonitor = AlwaysAvailableNetwork()
        config.packetObserver = observer
        client = CourierClientFactory().makeMQTTClient(config: config)
        if let handler { client.addEventHandler(handler) }
        client.connect()
        try await client.connected()
    }

    private var qos: QoS { QoS(rawValue: workload.qos) ?? .zero }

    func publish(_ count: Int) async throws {
        switch form {
        case .await: try await publishFromTasks(count)
        case .data:
            let data = Data(repeating: UInt8(ascii: "x"), count: workload.payloadSize)
            try await publish(count) {
                try client.publish(
                    data: data, to: workload.topic, qos: qos, retain: false, properties: properties,
                    completion: $0)
            }
        default:
            let bytes = [UInt8](repeating: UInt8(ascii: "x"), count: workload.payloadSize)
            try await publish(count) {
                try client.publish(
                    bytes: bytes, to: workload.topic, qos: qos, retain: false, properties: properties,
                    completion: $0)
            }
        }
    }

    /// Publishes as fast as the client accepts messages. At QoS 1 and 2, one shared completion counts the acknowledged
    /// messages.
    private func publish(
        _ count: Int, _ one: ((@Sendable (Result<PublishReceipt, CourierError>) -> Void)?) throws -> Void
    ) async throws {
        let counter = Countdown(count)
        let counting: @Sendable (Result<PublishReceipt, CourierError>) -> Void = { _ in counter.countDown() }
        let completion = qos == .zero ? nil : counting
        for _ in 0..<count {
            while true {
                do {
                    try one(completion)
                    break
                } catch let error as CourierError where error.code == .queueFull {
                    try await client.readyToPublish()
                }
            }
        }
        if qos != .zero { await counter.reached() }
    }

    private func publishFromTasks(_ count: Int) async throws {
        let tasks = 1_000
        let bytes = [UInt8](repeating: UInt8(ascii: "x"), count: workload.payloadSize)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<tasks {
                let share = count / tasks + (index < count % tasks ? 1 : 0)
                group.addTask { [client, workload, qos, properties] in
                    for _ in 0..<share {
                        _ =
                            try await workload.userPropertyCount == 0
                            ? client.publish(bytes, to: workload.topic, qos: qos)
                            : client.publish(bytes, to: workload.topic, qos: qos, properties: properties)
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    func receive(_ count: Int) async throws -> Int {
        if form == .sink { return await receiveBySink(count) }
        var bytes = 0
        var left = count
        var propertyCount = 0
        let buffer = ReadBuffer(overflow: .pause)
        for try await message in client.messages(Message.self, from: workload.topic, qos: qos, buffer: buffer) {
            bytes += message.data.count
            // Properties are decoded only when they are read. Read them, as an app that uses them does.
            if !properties.userProperties.isEmpty { propertyCount += message.properties.userProperties.count }
            left -= 1
            if left == 0 { break }
        }
        guard propertyCount == count * properties.userProperties.count else {
            throw CourierError(.decodingFailed, "\(propertyCount) user properties came with \(count) messages")
        }
        return bytes
    }

    private func receiveBySink(_ count: Int) async -> Int {
        let counter = Countdown(count)
        let total = Atomic<Int>(0)
        let subscription = client.messagePublisher(topic: workload.topic).sink { (data: Data) in
            total.add(data.count, ordering: .relaxed)
            counter.countDown()
        }
        client.subscribe((workload.topic, qos))
        await counter.reached()
        subscription.cancel()
        return total.load(ordering: .relaxed)
    }

    func close() async {
        await client.disconnectAndWait()
        await handler?.ended()
    }

    var heardCount: Int? { handler?.count }
}

/// An event handler that only counts events.
final class EventCounter: ICourierEventHandler, Sendable {
    private let counter = Atomic(0)
    private let end = Countdown(1)

    /// The number of received events.
    var count: Int { counter.load(ordering: .relaxed) }

    func onEvent(_ event: CourierEvent) {
        counter.add(1, ordering: .relaxed)
        if case .connectionDisconnect = event.type { end.countDown() }
    }

    /// Waits until the last event of the connection was received.
    func ended() async { await end.reached() }
}
