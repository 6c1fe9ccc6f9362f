import CourierCore
import CourierMQTT
import CourierSQLite
import Foundation
import TrialSupport

/// The process that is killed. It has two clients that share a store. They write to the parent and read its messages.
///
/// The last worker writes nothing. It handles the remaining messages until SIGINT ends it.
final class Worker: Sendable {
    /// One client and its index.
    private struct Member: Sendable {
        let index: Int
        let client: any CourierClient
    }

    /// The random behavior of the writers and readers in this process.
    private struct Manner: Sendable {
        /// The largest number of messages that a writer hands over without a pause.
        let burst: Int
        /// The longest pause of a writer, in milliseconds.
        let pause: Int
        /// The largest number of messages that wait in memory. Further messages are only on disk.
        let memoryLimit: Int
        /// The size at which the store's log is moved into the database file.
        let logBytes: Int
        /// The longest time for which a reader works on a message, in milliseconds.
        let work: Int
        /// The time before the readers start, in milliseconds.
        let readerDelay: Int

        init(_ random: consuming SeededGenerator) {
            burst = random.pick([4, 20, 60])
            pause = burst * random.pick([4, 8])
            memoryLimit = random.pick([10, 100, 10_000])
            logBytes = random.pick([64 << 10, 8 << 20])
            work = random.pick([0, 0, 1, 5])
            readerDelay = random.pick([0, 0, 20, 150])
        }
    }

    private let orders: WorkerOrders
    private let manner: Manner
    private let queue = DispatchQueue(label: "worker")

    init(_ orders: WorkerOrders) {
        self.orders = orders
        manner = Manner(orders.chance(0))
    }

    private func say(_ line: WorkerLine) { line.report() }

    /// Runs until SIGINT.
    func run() async throws {
        let interruption = Interruption(on: queue)
        let began = ContinuousClock.now
        let store = try orders.store.open(in: orders.folder, logBytes: manner.logBytes)
        if let damage = (store as? SQLiteMessageStore)?.recovery { say(.trouble("\(damage)")) }
        say(.opened(Int(began.duration(to: .now) / .milliseconds(1))))
        let members = (0..<Lane.clientCount).map { Member(index: $0, client: client($0, store)) }
        let events = members.map { member in
            member.client.eventPublisher.sink { [weak self] event in self?.note(event.type) }
        }
        let readers = members.map { member in Task { await read(member) } }
        for member in members { member.client.connect() }
        let writers = orders.isLast ? [] : write(members)
        try await subscribe(members)
        say(.ready)
        await interruption.wait()
        for writer in writers { writer.cancel() }
        for member in members { await member.client.disconnectAndWait() }
        for reader in readers {
            reader.cancel()
            await reader.value
        }
        withExtendedLifetime(events) {}
        await (store as? SQLiteMessageStore)?.close()
    }

    private func client(_ index: Int, _ store: any MessageStore) -> any CourierClient {
        var config = MQTTClientConfig(
            options: ConnectOptions(
                host: "127.0.0.1", port: orders.ports[index], clientId: "worker-\(index)", username: "", password: "",
                isCleanSession: false))
        config.logHandler = nil  // No log, because failures are part of the trial.
        config.protocolVersion = index % 2 == 1 ? .version311 : .version5
        config.autoReconnectInterval = 1
        config.maxAutoReconnectInterval = 2
        config.deliveryQueue = queue
        config.messageAdapters = [DataMessageAdapter()]
        config.messageStore = store
        config.messagePersistenceTTLSeconds = 3_600
        config.offline.maximumCount = manner.memoryLimit
        return CourierClientFactory().makeMQTTClient(config: config)
    }

    private func subscribe(_ members: [Member]) async throws {
        for member in members {
            try await member.client.connected()
            try await member.client.subscribe(to: Lane.filter(.down, client: member.index), qos: .two)
        }
    }

    private func note(_ event: CourierEventType) {
        switch event {
        case .messageStoreFailure(let error): say(.trouble("the store failed: \(error)"))
        case .messageSendFailure(let topic, let qos, let error, _):
            say(.trouble("a message to \(topic), QoS \(qos.rawValue), was given up: \(error.map { "\($0)" } ?? "-")"))
        case .messageReceiveFailure(let topic, let error, _):
            say(.trouble("a message to \(topic) was not kept: \(error.map { "\($0)" } ?? "-")"))
        default: break
        }
    }
}

// MARK: - Writing

extension Worker {
    private func write(_ members: [Member]) -> [Task<Void, Never>] {
        members.flatMap { member in
            (0..<Lane.writerCount).map { writer in Task { await write(member, writer) } }
        }
    }

    /// Writes until the task is cancelled. It chooses one of its two lanes at random for each message.
    private func write(_ member: Member, _ writer: Int) async {
        var random = orders.chance(1 + member.index * Lane.writerCount + writer)
        var counts: [Lane: Int] = [:]
        while !Task.isCancelled {
            for _ in 0...random.below(manner.burst) {
                let lane = Lane.of(.up, client: member.index, writer: writer, random.pick(Lane.qualities))
                let number = MessageNumber(life: orders.life, index: counts[lane, default: 0])
                counts[lane, default: 0] += 1
                await enqueue(member, lane, number)
            }
            try? await Task.sleep(for: .milliseconds(random.below(manner.pause)))
        }
    }

    private func enqueue(_ member: Member, _ lane: Lane, _ number: MessageNumber) async {
        do {
            let payload = Data(MessageCode.payload(lane: lane.id, number: number.value))
            try await member.client.enqueue(payload, to: lane.topic, qos: lane.qos)
            say(.accepted(lane, number))
        } catch {
            say(.refused(lane, number, "\(error)"))
        }
    }
}

// MARK: - Reading

extension Worker {
    private func read(_ member: Member) async {
        var random = orders.chance(100 + member.index)
        try? await Task.sleep(for: .milliseconds(manner.readerDelay))
        let messages = member.client.messages(
            Message.self, from: Lane.filter(.down, client: member.index), qos: .two, acknowledge: .afterProcessing)
        do {
            for try await message in messages {
                guard let lane = Lane(topic: message.topic), lane.qos == message.qos,
                    let number = MessageCode.number(of: message.data, lane: lane.id).map({ MessageNumber($0) })
                else {
                    say(.trouble("\(message) is damaged: \(Array(message.data.prefix(40)))"))
                    continue
                }
                say(.processing(lane, number, packetID: message.packetID ?? 0))
                if manner.work > 0, random.chance(20) {
                    try await Task.sleep(for: .milliseconds(random.below(manner.work + 1)))
                }
                try await message.acknowledgeDurably()
                say(.done(lane, number))
            }
            if !Task.isCancelled { say(.trouble("the loop of client \(member.index) has ended by itself")) }
        } catch {
            if !Task.isCancelled { say(.trouble("the loop of client \(member.index) has ended: \(error)")) }
        }
    }
}
