import BenchmarkHarness
import CPeers
import CourierCore
import CourierMQTT
import CourierTransport
import Foundation

/// What one run of one contender took.
struct DurableRun: Sendable {
    let count: Int
    /// Until the last message was accepted.
    let acceptedSeconds: Double
    /// Until the last was acknowledged as well, and removed from the store.
    let settledSeconds: Double
    /// Of all threads of the process, for all of that; the sink is another process.
    let cpuSeconds: Double

    var acceptedPerSecond: Double { Double(count) / acceptedSeconds }
    var settledPerSecond: Double { Double(count) / settledSeconds }
    var cpuMicroseconds: Double { cpuSeconds / Double(count) * 1e6 }
}

// MARK: - In this process

extension DurableRun {
    /// Has so many callers hand over `count` messages, each the next as soon as one is accepted, with files in `folder`.
    init(measuring contender: Contender, callers: Int, count: Int, in folder: URL) async throws {
        self =
            switch contender {
            case .client(let keeping):
                try await Self.client(try keeping.open(in: folder), callers: callers, count: count)
            case .store(let keeping):
                try await Self.store(try keeping.open(in: folder), callers: callers, count: count)
            case .paho: try Self.paho(count: count, in: folder)
            }
    }

    /// Ends now what began at `start`.
    private init(count: Int, from start: Start, accepted: ContinuousClock.Instant) {
        self.count = count
        acceptedSeconds = (accepted - start.instant) / .seconds(1)
        settledSeconds = (ContinuousClock.now - start.instant) / .seconds(1)
        cpuSeconds = ProcessUsage.cpuSeconds - start.cpuSeconds
    }

    /// Where measuring begins.
    private struct Start {
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

    /// A client of the sink on `port` that has begun to connect.
    static func client(of port: UInt16, _ store: any MessageStore) -> any CourierCore.CourierClient {
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

    /// Asks until nothing is left: a store tells nobody of its removals. The rest between keeps the asking out of the
    /// processor time that is measured.
    private static func waitUntilEmpty(_ store: any MessageStore, _ scope: StoreScope) async throws {
        while try await store.summary(of: scope).outgoingCount > 0 { try await Task.sleep(for: .milliseconds(1)) }
    }

    /// Always with one caller: what Paho does in the call it does under one lock, and more callers make it slower.
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

// MARK: - In a process of its own

extension DurableRun {
    /// Has this program measure in a process of its own and with a folder of its own beneath `folder`.
    init(inOwnProcess contender: Contender, callers: Int, count: Int, in folder: URL) throws {
        let output = try OwnProcess.output(of: ["run", contender.name, "\(callers)", "\(count)", folder.path])
        guard let run = DurableRun(line: output) else {
            throw Failure("\(contender.name) with \(callers) callers: no result")
        }
        self = run
    }

    /// Takes the median of each measure; `runs` are at least one.
    init(medianOf runs: [DurableRun]) {
        func median(_ value: (DurableRun) -> Double) -> Double { runs.map(value).sorted()[runs.count / 2] }
        count = runs[0].count
        acceptedSeconds = median(\.acceptedSeconds)
        settledSeconds = median(\.settledSeconds)
        cpuSeconds = median(\.cpuSeconds)
    }

    /// Reads what ``line`` made.
    init?(line: String) {
        let fields = line.split(whereSeparator: \.isWhitespace)
        guard fields.count == 4, let count = Int(fields[0]), let accepted = Double(fields[1]),
            let settled = Double(fields[2]), let cpu = Double(fields[3])
        else { return nil }
        (self.count, acceptedSeconds, settledSeconds, cpuSeconds) = (count, accepted, settled, cpu)
    }

    /// How a run in a process of its own reports itself.
    var line: String { "\(count) \(acceptedSeconds) \(settledSeconds) \(cpuSeconds)" }
}
