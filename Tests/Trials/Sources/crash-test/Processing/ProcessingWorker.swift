import CourierCore
import CourierMQTT
import CourierSQLite
import Foundation
import TrialSupport

/// The process that is killed in the second part of the test. Its client has a store and one processor for each kind of
/// lane. The last process ends with SIGINT.
final class ProcessingWorker: Sendable {
    /// The random behavior of this process.
    private struct Manner: Sendable {
        let concurrency: Int
        /// The largest number of messages that wait for handlers.
        let waitingLimit: Int
        /// The size at which the store's log is moved into the database file.
        let logBytes: Int
        /// The longest time for which a handler works on a message, and the longest time between its note and its
        /// return, in milliseconds.
        let work: Int

        init(_ random: consuming SeededGenerator, isLast: Bool) {
            concurrency = isLast ? 16 : random.pick([1, 4, 16])
            waitingLimit = random.pick([5, 100, 10_000])
            logBytes = random.pick([64 << 10, 8 << 20])
            work = isLast ? 0 : random.pick([0, 2, 10])
        }
    }

    private struct HandlerFailure: Error {}

    static func noteFile(in folder: String) -> String { "\(folder)/notes.txt" }
    static let clientID = "processing-worker"

    private let orders: WorkerOrders
    private let manner: Manner
    private let notes: NoteFile
    private let queue = DispatchQueue(label: "worker")

    init(_ orders: WorkerOrders) throws {
        self.orders = orders
        manner = Manner(orders.chance(0), isLast: orders.isLast)
        notes = try NoteFile(Self.noteFile(in: orders.folder))
    }

    /// Runs until SIGINT.
    func run() async throws {
        let interruption = Interruption(on: queue)
        let store = try orders.store.open(in: orders.folder, logBytes: manner.logBytes)
        if let damage = (store as? SQLiteMessageStore)?.recovery { WorkerLine.trouble("\(damage)").report() }
        let client = client(NotingStore(store, notes, life: orders.life))
        let events = client.eventPublisher.sink { event in
            if case .messageStoreFailure(let error) = event.type {
                WorkerLine.trouble("the store failed: \(error)").report()
            }
        }
        let processors = try JobLane.Kind.allCases.map { try process($0, client) }
        client.connect()
        for processor in processors { try await processor.subscribed() }
        WorkerLine.ready.report()
        await interruption.wait()
        for processor in processors {
            let count = await processor.stop()
            if count > 0 { WorkerLine.trouble("\(count) handlers have not returned").report() }
        }
        await client.disconnectAndWait()
        withExtendedLifetime(events) {}
        await (store as? SQLiteMessageStore)?.close()
    }

    private func client(_ store: any MessageStore) -> any CourierClient {
        var config = MQTTClientConfig(
            options: ConnectOptions(
                host: "127.0.0.1", port: orders.ports[0], clientId: Self.clientID, username: "", password: "",
                isCleanSession: false))
        config.logHandler = nil  // No log, because failures are part of the trial.
        config.autoReconnectInterval = 1
        config.maxAutoReconnectInterval = 2
        config.deliveryQueue = queue
        config.messageAdapters = [DataMessageAdapter()]
        config.messageStore = store
        return CourierClientFactory().makeMQTTClient(config: config)
    }

    private func process(_ kind: JobLane.Kind, _ client: any CourierClient) throws -> any MessageProcessor {
        var policy = ProcessingPolicy<Message>(
            concurrency: manner.concurrency, order: .none,
            retries: RetrySchedule(maximumAttempts: 4, first: .milliseconds(20), maximum: .milliseconds(100)),
            waiting: ProcessingLimits(maximumCount: manner.waitingLimit),
            parked: ParkingLimits(maximumCount: 1_000_000, maximumBytes: 1 << 30))
        if kind == .ordered {
            policy.order = .byTopic
            policy.deduplicate = .by(
                { JobMessage(topic: $0.topic, payload: $0.data)?.description ?? "damaged" }, for: .seconds(86_400),
                maximumCount: 1_000_000)
        }
        return try client.process(Message.self, from: kind.filter, qos: .two, name: kind.rawValue, policy: policy) {
            [self] message, context in try await handle(message, context)
        }
    }

    private func handle(_ received: Message, _ context: ProcessingContext) async throws {
        guard let message = JobMessage(topic: received.topic, payload: received.data) else {
            WorkerLine.trouble("\(received) is damaged").report()
            throw Park(reason: "The message is damaged.")
        }
        var random = orders.chance(message.number &* 64 &+ message.lane.id &* 8 &+ context.attempt)
        if manner.work > 0 { try await Task.sleep(for: .milliseconds(random.below(manner.work + 1))) }
        if message.mustBeParked { throw Park(reason: "The handler parks this message.") }
        if random.chance(20) { throw HandlerFailure() }
        if random.chance(5) { throw Retry(after: .milliseconds(20)) }
        notes.add([JobNote(.handled, message, life: orders.life)])
        // The handler has succeeded, so it must not throw, even if it is cancelled.
        if manner.work > 0, random.flag() { try? await Task.sleep(for: .milliseconds(random.below(manner.work + 1))) }
    }
}
