import BenchmarkHarness
import CPeers
import CourierCore
import CourierMQTT
import CourierTransport
import Foundation

/// The times of one run of one contender.
struct DurableRun: Sendable {
    let count: Int
    /// The time until the last message was accepted.
    let acceptedSeconds: Double
    /// The time until every message was also acknowledged and removed from the store.
    let settledSeconds: Double
    /// The CPU time of all threads of the process during `settledSeconds`. The sink is a separate process, so its CPU
    /// time is not included.
    let cpuSeconds: Double

    var acceptedPerSecond: Double { Double(count) / acceptedSeconds }
    var settledPerSecond: Double { Double(count) / settledSeconds }
    var cpuMicroseconds: Double { cpuSeconds / Double(count) * 1e6 }
}

// MARK: - In this process

extension DurableRun {
    /// Publishes `count` messages from `callers` callers, with files in `folder`. Each caller starts its next message
    /// when the previous one was accepted.
    init(measuring contender: Contender, callers: Int, count: Int, in folder: URL) async throws {
        self =
            switch contender {
            case .client(let keeping):
                try await Self.client(try keeping.open(in: folder), callers: callers, count: count)
            case .store(let keeping):
                try await Self.store(try keeping.open(in: folder), callers: callers, count: count)
            case .paho: try Self.paho(count: count, in: folder)
            case .loop: try await Self.loop(count: count)
            case .processor(let keeping, let order):
                try await Self.processor(try keeping?.open(in: folder), order, concurrency: callers, count: count)
            case .jobs(let keeping):
                try await Self.jobs(try keeping.open(in: folder), callers: callers, count: count)
            }
    }

    /// Ends the measurement that began at `start`.
    init(count: Int, from start: Start, accepted: ContinuousClock.Instant) {
        self.count = count
        acceptedSeconds = (accepted - start.instant) / .seconds(1)
        settledSeconds = (ContinuousClock.now - start.instant) / .seconds(1)
        cpuSeconds = ProcessUsage.cpuSeconds - start.cpuSeconds
    }

    /// The start of a measurement.
    struct Start {
        let instant = ContinuousClock.now
        let cpuSeconds = ProcessUsage.cpuSeconds
    }

    private static func client(_ store: any MessageStore, callers: Int, count: Int) async throws -> DurableRun {
        let sink = try Sink(
            qos: 1, count: count, payloadSize: Workload.payloadSize, window: Workload.window, topic: Workload.topic)
        defer { sink.stop() }
        let client = client(of: sink.port, store)
        try await client.connected()
        let bytes = [UInt8](repeating: UInt8(ascii: "x"), count: Workload.payloadSize)
        let start = Start()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<callers {
                let share = count / callers + (index < count % callers ? 1 : 0)
                group.addTask {
                    for _ in 0..<share { try await client.enqueue(bytes, to: Workload.topic, qos: .one) }
                }
            }
            try await group.waitForAll()
        }
        let accepted = ContinuousClock.now
        try sink.waitForAll()
        let scope = StoreScope(clientID: "courier", broker: "127.0.0.1:\(sink.port)")
        try await Self.waitUntilEmpty(store, scope)
        let run = DurableRun(count: count, from: start, accepted: accepted)
        await client.disconnectAndWait()
        return run
    }

    /// Returns a client of the sink on `port` that has started to connect.
    static func client(of port: UInt16, _ store: (any MessageStore)?) -> any CourierCore.CourierClient {
        var config = MQTTClientConfig(
            options: ConnectOptions(
                host: "127.0.0.1", port: port, clientId: "courier", username: "", password: "",
                isCleanSession: false))
        config.protocolVersion = .version311
        config.limits.maximumInFlight = Int(Workload.window)
        config.environment.networkMonitor = AlwaysAvailableNetwork()
        config.messageStore = store
        let client = CourierClientFactory().makeMQTTClient(config: config)
        client.connect()
        return client
    }

    private static func store(_ store: any MessageStore, callers: Int, count: Int) async throws -> DurableRun {
        let load = StoreLoad(store, count: count)
        let start = Start()
        let accepted = try await load.run(callers: callers)
        try await waitUntilEmpty(store, Workload.scope)
        return DurableRun(count: count, from: start, accepted: accepted)
    }

    /// Waits until the store has no outgoing messages. It polls, because a store does not report removals. The pause
    /// between polls keeps their share of the measured CPU time small.
    private static func waitUntilEmpty(_ store: any MessageStore, _ scope: StoreScope) async throws {
        while try await store.summary(of: scope).outgoingCount > 0 { try await Task.sleep(for: .milliseconds(1)) }
    }

    /// Measures Paho with one caller. Paho does all work of a publish call under one lock, so more callers would make
    /// it slower.
    private static func paho(count: Int, in folder: URL) throws -> DurableRun {
        let sink = try Sink(
            qos: 1, count: count, payloadSize: Workload.payloadSize, window: Workload.window, topic: Workload.topic)
        defer { sink.stop() }
        let peer = Workload.topic.withCString { topic in
            folder.path.withCString { folder in
                var plan = peer_plan()
                plan.port = sink.port
                plan.qos = 1
                plan.payload_size = Workload.payloadSize
                plan.window = Int32(Workload.window)
                plan.topic = topic
                plan.folder = folder
                return peer_connect(peer_paho, &plan)
            }
        }
        guard let peer else { throw Failure("Paho cannot connect to the sink") }
        let start = Start()
        guard peer_accept(peer, UInt64(count)) else { throw Failure("Paho did not accept every message") }
        let accepted = ContinuousClock.now
        guard peer_finish(peer) else { throw Failure("Paho did not deliver every message") }
        let run = DurableRun(count: count, from: start, accepted: accepted)
        peer_close(peer)
        return run
    }
}

// MARK: - In a separate process

extension DurableRun {
    /// Runs the measurement in a separate process, which creates its own folder below `folder`.
    init(inOwnProcess contender: Contender, callers: Int, count: Int, in folder: URL) throws {
        let output = try OwnProcess.output(of: ["run", contender.name, "\(callers)", "\(count)", folder.path])
        guard let run = DurableRun(line: output) else {
            throw Failure("\(contender.name) with \(callers) callers: no result")
        }
        self = run
    }

    /// Creates a result from the median of each measured value. `runs` must not be empty.
    init(medianOf runs: [DurableRun]) {
        func median(_ value: (DurableRun) -> Double) -> Double { runs.map(value).sorted()[runs.count / 2] }
        count = runs[0].count
        acceptedSeconds = median(\.acceptedSeconds)
        settledSeconds = median(\.settledSeconds)
        cpuSeconds = median(\.cpuSeconds)
    }

    /// Parses the output of ``line``.
    init?(line: String) {
        let fields = line.split(whereSeparator: \.isWhitespace)
        guard fields.count == 4, let count = Int(fields[0]), let accepted = Double(fields[1]),
            let settled = Double(fields[2]), let cpu = Double(fields[3])
        else { return nil }
        (self.count, acceptedSeconds, settledSeconds, cpuSeconds) = (count, accepted, settled, cpu)
    }

    /// The result as one line, which a separate process prints.
    var line: String { "\(count) \(acceptedSeconds) \(settledSeconds) \(cpuSeconds)" }
}
