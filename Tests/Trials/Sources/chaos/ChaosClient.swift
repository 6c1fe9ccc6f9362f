import CourierCore
import CourierMQTT
import CourierTransport
import Foundation
import Synchronization
import TrialSupport

/// One client of a chaos run, with its writers and readers.
final class ChaosClient: Sendable {
    /// The ways in which a client reads the messages of another client.
    enum Reading: CaseIterable {
        case sequenceOnReceipt
        case sequenceAfterProcessing
        case publisher
    }

    /// The writers of a client.
    enum Writer: Int, CaseIterable {
        /// Waits for the result of each message before it publishes the next one.
        case first
        case second
        /// Publishes bursts with completions, with at most ``limit`` messages whose result is not known.
        case burst
    }

    /// The first topic level of filters that are subscribed and unsubscribed again and again. No message is published
    /// there.
    static let fidgetTopic = "other"
    static let qualities: [QoS] = [.zero, .one, .two]
    /// The largest number of messages of the burst writer whose result is not known.
    private static let limit = 200

    let index: Int
    let name: String
    let isVersion311: Bool
    let client: any CourierClient
    let events: EventRecord
    let proxy: CuttingProxy
    let queue: DispatchQueue
    /// The number of messages that the readers received.
    let readCount = Atomic(0)
    private let isOver = Atomic(false)
    private let awaits: OpenAwaits
    private let verdict: Verdict
    private let subscriptions = Mutex<Set<AnyCancellable>>([])
    private let filters = Mutex<[String]>([])

    init(_ index: Int, seed: UInt64, proxy: CuttingProxy, isVersion311: Bool, awaits: OpenAwaits, verdict: Verdict) {
        self.index = index
        self.proxy = proxy
        self.awaits = awaits
        self.verdict = verdict
        self.isVersion311 = isVersion311
        name = "client \(index) (\(isVersion311 ? "3.1.1" : "5"))"
        queue = DispatchQueue(label: "chaos.\(index)")
        events = EventRecord(name, verdict)
        var config = MQTTClientConfig(
            options: ConnectOptions(
                host: "127.0.0.1", port: proxy.port, clientId: "chaos-\(seed)-\(index)", username: "", password: "",
                isCleanSession: false))
        config.logHandler = nil  // No log, because failures are part of the trial.
        config.protocolVersion = isVersion311 ? .version311 : .version5
        config.autoReconnectInterval = 1
        config.maxAutoReconnectInterval = 2
        config.deliveryQueue = queue
        config.messageAdapters = [DataMessageAdapter()]
        client = CourierClientFactory().makeMQTTClient(config: config)
        client.addEventHandler(events)
    }

    /// Returns the topic of a lane.
    static func topic(client: Int, writer: Writer, qos: QoS) -> String {
        "chaos/\(client)/\(writer.rawValue)/\(qos.rawValue)"
    }

    /// Returns the index of a lane.
    static func lane(client: Int, writer: Int, qos: Int) -> Int {
        (client * Writer.allCases.count + writer) * qualities.count + qos
    }

    /// Returns the filter for all messages that another client writes.
    private static func filter(of other: Int) -> String { "chaos/\(other)/#" }

    /// Returns true if all subscriptions of the client were granted after `instant`.
    func hasSubscriptions(since instant: ContinuousClock.Instant) -> Bool {
        events.hasGranted(filters.withLock { $0 }, since: instant)
    }
}

// MARK: - Reading

extension ChaosClient {
    /// Starts to read the messages of `other`, as its reader number `reader`. The returned task ends when it is
    /// cancelled.
    func read(_ other: Int, as reader: Int, by reading: Reading, _ lanes: [Lane]) -> Task<Void, Never>? {
        let filter = Self.filter(of: other)
        filters.withLock { $0.append(filter) }
        switch reading {
        case .publisher:
            client.messagePublisher(topic: filter)
                .sink { [weak self] (message: Message) in self?.take(message, reader, lanes) }
                .store(in: self)
            client.subscribe((filter, QoS.two))
            return nil
        case .sequenceOnReceipt, .sequenceAfterProcessing:
            let mode: AcknowledgementMode = reading == .sequenceOnReceipt ? .onReceipt : .afterProcessing
            let messages = client.messages(Message.self, from: filter, qos: .two, acknowledge: mode)
            return Task { [weak self, verdict, name] in
                do {
                    for try await message in messages { self?.take(message, reader, lanes) }
                    if !Task.isCancelled { verdict.violation("a loop of \(name) has ended by itself") }
                } catch {
                    verdict.violation("a loop of \(name) has ended: \(error)")
                }
            }
        }
    }

    fileprivate func keep(_ subscription: AnyCancellable) {
        subscriptions.withLock { _ = $0.insert(subscription) }
    }

    private func take(_ message: Message, _ reader: Int, _ lanes: [Lane]) {
        readCount.add(1, ordering: .relaxed)
        let levels = message.topic.split(separator: "/").compactMap { Int($0) }
        guard levels.count == 3 else { return verdict.violation("\(name) got a message to \(message.topic)") }
        let id = Self.lane(client: levels[0], writer: levels[1], qos: levels[2])
        guard let number = MessageCode.number(of: message.data, lane: id) else {
            return verdict.violation("\(name) got a damaged message to \(message.topic): \(Array(message.data))")
        }
        lanes[id].arrived(number, at: reader, message)
    }
}

extension AnyCancellable {
    fileprivate func store(in client: ChaosClient) { client.keep(self) }
}

// MARK: - Writing

extension ChaosClient {
    /// Writes until ``finish()`` is called.
    func write(_ writer: Writer, _ lanes: [Lane], seed: UInt64) async {
        var random = SeededGenerator(seed: seed)
        while !isOver.load(ordering: .relaxed) {
            switch writer {
            case .first, .second:
                let qos = random.pick(Self.qualities)
                await writeOne(lane(writer, qos, lanes), writer, qos)
                await pause(.milliseconds(15 + random.below(40)))
            case .burst:
                for _ in 0..<random.below(30) {
                    let qos = random.pick(Self.qualities)
                    let lane = lane(writer, qos, lanes)
                    guard Self.qualities.reduce(0, { $0 + self.lane(writer, $1, lanes).openCount }) < Self.limit else {
                        break
                    }
                    hand(over: lane, writer, qos)
                }
                await pause(.milliseconds(200 + random.below(600)))
            }
        }
    }

    private func lane(_ writer: Writer, _ qos: QoS, _ lanes: [Lane]) -> Lane {
        lanes[Self.lane(client: index, writer: writer.rawValue, qos: qos.rawValue)]
    }

    private func writeOne(_ lane: Lane, _ writer: Writer, _ qos: QoS) async {
        let number = lane.publishing()
        let topic = Self.topic(client: index, writer: writer, qos: qos)
        do {
            let payload = Data(MessageCode.payload(lane: lane.id, number: number))
            let receipt = try await client.publish(payload, to: topic, qos: qos)
            lane.ended(number, .receipt(receipt.reasonCode))
        } catch let error as CourierError {
            lane.ended(number, .failure(error))
        } catch {
            lane.ended(number, .otherFailure("\(error)"))
        }
    }

    private func hand(over lane: Lane, _ writer: Writer, _ qos: QoS) {
        let number = lane.publishing()
        let topic = Self.topic(client: index, writer: writer, qos: qos)
        do {
            try client.publish(bytes: MessageCode.payload(lane: lane.id, number: number), to: topic, qos: qos) {
                switch $0 {
                case .success(let receipt): lane.ended(number, .receipt(receipt.reasonCode))
                case .failure(let error): lane.ended(number, .failure(error))
                }
            }
        } catch let error as CourierError {
            lane.ended(number, .failure(error))
        } catch {
            lane.ended(number, .otherFailure("\(error)"))
        }
    }

    /// Subscribes and unsubscribes additional filters, and waits for connections, until ``finish()`` is called.
    func fidget(seed: UInt64) async {
        var random = SeededGenerator(seed: seed)
        while !isOver.load(ordering: .relaxed) {
            await attempt("connected()") { try await client.connected() }
            let filter = "\(Self.fidgetTopic)/\(index)/\(random.below(4))"
            await attempt("subscribe") { try await client.subscribe(to: filter, qos: random.pick(Self.qualities)) }
            await pause(.milliseconds(random.below(400)))
            await attempt("unsubscribe") { try await client.unsubscribe(from: filter) }
            await pause(.milliseconds(random.below(400)))
        }
    }

    private func attempt<Result>(_ what: String, _ body: () async throws -> Result) async {
        do {
            _ = try await awaits.track("\(what) of \(name)", body)
        } catch {
            verdict.violation("\(what) of \(name) failed: \(error)", history: events.latest)
        }
    }

    private func pause(_ duration: Duration) async { try? await Task.sleep(for: duration) }
}

// MARK: - Ending

extension ChaosClient {
    /// Makes the writers end after their current message.
    func finish() { isOver.store(true, ordering: .relaxed) }

    /// Disconnects, and checks that no operation is left open.
    func disconnect() async {
        await awaits.track("disconnect of \(name)") {
            await client.disconnectAndWait()
        }
        // Wait until the last events were delivered: they are in the delivery queue before this block.
        await withCheckedContinuation { continuation in queue.async { continuation.resume() } }
        events.judgeRest(read: readCount.load(ordering: .relaxed))
    }
}
