import CourierCore
import CourierMQTT
import Foundation
import Synchronization

/// One publisher and one subscriber, and the numbered messages between them.
final class ClusterLane: Sendable {
    private struct State {
        var sent = 0
        var accepted: Set<Int> = []
        var received: [Int: Int] = [:]
        var last = 0
        var isOutOfOrder = 0
        var refused: [String] = []
    }

    /// The pause of the writer after each message.
    private static let rest = Duration.milliseconds(5)

    let index: Int
    let qos: QoS
    let publisher: any CourierClient
    let subscriber: any CourierClient
    let writerEvents = ConnectionRecord()
    let readerEvents = ConnectionRecord()
    private let state = Mutex(State())
    private let isOver = Atomic(false)

    init(_ index: Int, qos: QoS, ports: [UInt16]) {
        self.index = index
        self.qos = qos
        // Each lane starts at another node, and its clients have the other nodes as alternatives.
        let order = (0..<ports.count).map { ports[($0 + index) % ports.count] }
        publisher = Self.client("writer-\(index)", order)
        subscriber = Self.client("reader-\(index)", order)
        publisher.addEventHandler(writerEvents)
        subscriber.addEventHandler(readerEvents)
    }

    private static func client(_ id: String, _ ports: [UInt16]) -> any CourierClient {
        let options = ConnectOptions(
            host: "127.0.0.1", port: ports.first ?? 0, keepAlive: 5, clientId: id, username: "", password: "",
            alternatives: ports.dropFirst().map { BrokerEndpoint(host: "127.0.0.1", port: $0, priority: 1) })
        var config = MQTTClientConfig(options: options)
        config.logHandler = nil  // No log, because failures are part of the trial.
        config.autoReconnectInterval = 1
        config.maxAutoReconnectInterval = 4
        config.deliveryQueue = DispatchQueue(label: id)
        config.session.acknowledgementTimeout = .seconds(20)
        return CourierClientFactory().makeMQTTClient(config: config)
    }

    private var topic: String { "cluster/\(index)" }

    /// Connects both clients and returns once the reader's subscription is granted. The returned task reads until it is
    /// cancelled.
    func begin() async throws -> Task<Void, any Error> {
        publisher.connect()
        subscriber.connect()
        try await publisher.connected()
        try await subscriber.connected()
        let messages = subscriber.messages(String.self, from: topic, qos: .one)
        let reading = Task { for try await text in messages { note(text) } }
        try await subscriber.subscribe(to: topic, qos: .one)
        return reading
    }

    private func note(_ text: String) {
        guard let number = Int(text) else { return }
        state.withLock { state in
            if state.received.updateValue((state.received[number] ?? 0) + 1, forKey: number) == nil {
                if number < state.last { state.isOutOfOrder += 1 }
                state.last = max(state.last, number)
            }
        }
    }

    /// Publishes numbers, one after the other, until ``stop()`` is called or the task is cancelled.
    func write() async {
        while !isOver.load(ordering: .relaxed), !Task.isCancelled {
            let number = state.withLock { state in
                state.sent += 1
                return state.sent
            }
            do {
                _ = try await publisher.publish("\(number)", to: topic, qos: qos)
                state.withLock { _ = $0.accepted.insert(number) }
            } catch {
                state.withLock { $0.refused.append("\(number): \(error)") }
            }
            try? await Task.sleep(for: Self.rest)
        }
    }

    func stop() { isOver.store(true, ordering: .relaxed) }

    func end() {
        publisher.destroy()
        subscriber.destroy()
    }

    /// The accepted messages that have not arrived.
    var missing: [Int] {
        state.withLock { state in state.accepted.filter { state.received[$0] == nil }.sorted() }
    }

    /// The numbers of accepted, repeated and misordered messages of the lane, and the errors of refused ones.
    var figures: (accepted: Int, refused: [String], arrivedTwice: Int, outOfOrder: Int) {
        state.withLock { state in
            (state.accepted.count, state.refused, state.received.values.count { $0 > 1 }, state.isOutOfOrder)
        }
    }
}
