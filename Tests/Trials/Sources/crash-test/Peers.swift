import CourierCore
import CourierMQTT
import Foundation
import Synchronization
import TrialSupport

/// The two clients of the parent process, which is never killed. The collector receives the worker's messages, and the
/// source sends messages to the worker.
final class Peers: Sendable {
    /// The largest number of messages of a lane that the worker has not reported yet.
    private static let limit = 150
    private static let burst = 12

    private let ledgers: [LaneLedger]
    private let findings: Findings
    private let collector: any CourierClient
    private let source: any CourierClient
    private let isOver = Atomic(false)
    private let tasks = Mutex<[Task<Void, Never>]>([])

    /// Creates the clients. The collector has its own port.
    init(collectorPort: UInt16, sourcePort: UInt16, ledgers: [LaneLedger], findings: Findings) {
        self.ledgers = ledgers
        self.findings = findings
        collector = Self.client("collector", collectorPort)
        source = Self.client("source", sourcePort)
    }

    /// Creates a client of the parent process.
    static func client(_ name: String, _ port: UInt16) -> any CourierClient {
        var config = MQTTClientConfig(
            options: ConnectOptions(
                host: "127.0.0.1", port: port, clientId: name, username: "", password: "", isCleanSession: false))
        config.logHandler = nil  // No log, because failures are part of the trial.
        config.autoReconnectInterval = 1
        config.maxAutoReconnectInterval = 1
        config.deliveryQueue = DispatchQueue(label: name)
        config.messageAdapters = [DataMessageAdapter()]
        return CourierClientFactory().makeMQTTClient(config: config)
    }

    /// Connects both clients, and returns when the collector is subscribed.
    func start() async throws {
        collector.connect()
        source.connect()
        try await collector.connected()
        try await source.connected()
        let messages = collector.messages(Message.self, from: Lane.filter(.up), qos: .two)
        keep(
            Task { [self] in
                do {
                    for try await message in messages { take(message) }
                } catch {
                    findings.add(.other, "the collector's loop has ended: \(error)")
                }
            })
        try await collector.subscribe(to: Lane.filter(.up), qos: .two)
    }

    private func keep(_ task: Task<Void, Never>) { tasks.withLock { $0.append(task) } }

    private func take(_ message: Message) {
        guard let lane = Lane(topic: message.topic), lane.qos == message.qos,
            let number = MessageCode.number(of: message.data, lane: lane.id)
        else { return findings.add(.other, "the collector got a damaged message: \(message)") }
        ledgers[lane.id].arrived(
            MessageNumber(number), LaneLedger.Arrival(at: .now, packetID: message.packetID))
    }

    /// Starts to write to the worker. The worker's clients must be subscribed.
    func write(seed: UInt64) {
        for lane in Lane.all where lane.direction == .down {
            keep(Task { [self] in await write(lane, SeededGenerator(seed: seed &+ UInt64(lane.id))) })
        }
    }

    private func write(_ lane: Lane, _ random: consuming SeededGenerator) async {
        let ledger = ledgers[lane.id]
        var next = 0
        while !isOver.load(ordering: .relaxed) {
            for _ in 0...random.below(Self.burst) where ledger.openCount < Self.limit {
                let number = MessageNumber(next)
                next += 1
                ledger.expect(number)
                do {
                    let payload = Data(MessageCode.payload(lane: lane.id, number: number.value))
                    try await source.enqueue(payload, to: lane.topic, qos: lane.qos)
                } catch {
                    findings.add(.other, "message \(number) of \(lane) could not be sent: \(error)")
                }
            }
            try? await Task.sleep(for: .milliseconds(random.below(250)))
        }
    }

    /// Stops writing.
    func calm() { isOver.store(true, ordering: .relaxed) }

    /// Disconnects the clients and ends the tasks.
    func end() async {
        for client in [collector, source] { await client.disconnectAndWait() }
        for task in tasks.withLock({ $0 }) {
            task.cancel()
            await task.value
        }
    }
}
