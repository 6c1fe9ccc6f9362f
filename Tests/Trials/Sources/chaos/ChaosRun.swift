import CourierCore
import CourierTransport
import Foundation
import TrialSupport

/// Runs many clients with a broker that is stopped and killed, and with proxies that cut connections. Checks the
/// results.
final class ChaosRun: Sendable {
    static let clientCount = 20
    /// The longest time until all operations have ended, after the last cut.
    private static let restTimeout = Duration.seconds(60)
    /// The longest time for the start and the end of a run together, in seconds.
    private static let endSeconds = 90
    private static let statusInterval = Duration.seconds(5)

    let verdict: Verdict
    private let seconds: Int
    private let seed: UInt64
    /// The percentage of outages that are kills.
    private let killPercent: Int
    private let broker: RealBroker
    private let proxyLoop: EventLoop
    private let outages = Outages()
    private let awaits = OpenAwaits()
    private let clients: [ChaosClient]
    private let lanes: [Lane]

    /// Starts the broker and creates the clients.
    init(seconds: Int, seed: UInt64, killPercent: Int) async throws {
        self.seconds = seconds
        self.killPercent = killPercent
        self.seed = seed
        verdict = Verdict(seed: seed)
        proxyLoop = try EventLoop(name: "chaos-proxy")
        broker = try await RealBroker.boundless()
        var random = SeededGenerator(seed: seed)
        var clients: [ChaosClient] = []
        for index in 0..<Self.clientCount {
            let isVersion311 = index % 2 == 1
            let proxy = try CuttingProxy(
                to: broker.endpoint, isVersion311: isVersion311, seed: random.next(),
                on: proxyLoop)
            clients.append(
                ChaosClient(
                    index, seed: seed, proxy: proxy, isVersion311: isVersion311, awaits: awaits, verdict: verdict))
        }
        self.clients = clients
        var lanes: [Lane] = []
        for writer in clients {
            let readers = Self.readers(of: writer.index).map { clients[$0] }
            for kind in ChaosClient.Writer.allCases {
                for qos in ChaosClient.qualities {
                    lanes.append(
                        Lane(
                            "\(writer.name), \(kind), QoS \(qos)", id: lanes.count, qos: qos,
                            readers: readers.map {
                                Lane.Reader(
                                    name: $0.name, index: $0.index, releases: $0.proxy.releases, links: $0.proxy.history
                                )
                            },
                            outages: outages, verdict: verdict))
                }
            }
        }
        self.lanes = lanes
    }

    /// Returns the indexes of the two clients that read a client's messages.
    private static func readers(of client: Int) -> [Int] {
        [(client + 1) % clientCount, (client + 2) % clientCount]
    }

    /// Ends the program if the run takes too long, and prints the open awaits. A hanging await could make the run hang,
    /// too.
    private func watch() {
        let most = seconds + Self.endSeconds + Int(Self.restTimeout.components.seconds)
        DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(most)) { [self] in
            awaits.judge(verdict)
            verdict.violation("the run does not come to its end")
            exit(1)
        }
    }

    /// Runs the test, and returns true if no promise was broken.
    func run() async throws -> Bool {
        watch()
        let readers = try await start()
        let heapBefore = HeapGrowth.bytesInUse
        let writers = write()
        var memory = ResidentMemory()
        try await suffer(&memory)
        let isAtRest = await rest(writers)
        judge(isAtRest: isAtRest, memory)
        let growth = heapGrowth(since: heapBefore)
        if isAtRest, showsLeaks { growth.judge(verdict) }
        await end(readers)
        await broker.remove()
        print(summary(memory, growth))
        return verdict.violationCount == 0
    }
}

// MARK: - Steps of a run

extension ChaosRun {
    /// Connects all clients, and returns when each has its subscriptions.
    private func start() async throws -> [Task<Void, Never>] {
        let began = ContinuousClock.now
        var random = SeededGenerator(seed: seed &+ 1)
        var tasks: [Task<Void, Never>] = []
        for writer in clients {
            for (reader, index) in Self.readers(of: writer.index).enumerated() {
                let reading = random.pick(ChaosClient.Reading.allCases)
                if let task = clients[index].read(writer.index, as: reader, by: reading, lanes) { tasks.append(task) }
            }
        }
        for client in clients { client.client.connect() }
        let areReady = await wait(at: .seconds(30)) { [self] in clients.allSatisfy { $0.hasSubscriptions(since: began) }
        }
        if !areReady { verdict.violation("not every client has subscribed in 30 s") }
        return tasks
    }

    private func write() -> [Task<Void, Never>] {
        var random = SeededGenerator(seed: seed &+ 2)
        return clients.flatMap { client in
            let seeds = (0...ChaosClient.Writer.allCases.count).map { _ in random.next() }
            var tasks = ChaosClient.Writer.allCases.map { writer in
                Task { [lanes] in await client.write(writer, lanes, seed: seeds[writer.rawValue]) }
            }
            tasks.append(Task { await client.fidget(seed: seeds[ChaosClient.Writer.allCases.count]) })
            return tasks
        }
    }

    /// Stops and kills the broker again and again, until the time is over.
    private func suffer(_ memory: inout ResidentMemory) async throws {
        var random = SeededGenerator(seed: seed &+ 3)
        let start = ContinuousClock.now
        let end = start.advanced(by: .seconds(seconds))
        var nextStatus = start.advanced(by: Self.statusInterval)
        var nextSample = start
        var nextOutage = start.advanced(by: .seconds(3))
        while ContinuousClock.now < end {
            try await Task.sleep(for: .milliseconds(50))
            let now = ContinuousClock.now
            watchRecovery(now)
            if now >= nextSample {
                memory.sample()
                for lane in lanes { lane.settle(isOver: false) }
                for client in clients { client.proxy.releases.prune() }
                nextSample = nextSample.advanced(by: .seconds(1))
            }
            if now >= nextStatus {
                status(now - start, memory)
                nextStatus = nextStatus.advanced(by: Self.statusInterval)
            }
            // All clients must have recovered before the next outage, and no client may suspect another client with its
            // id.
            let isAllowed =
                (outages.all.isEmpty || outages.last?.recovered != nil)
                && !clients.contains { $0.proxy.isSuspicious }
            if now >= nextOutage, isAllowed {
                try await outage(random.chance(killPercent) ? .kill : .stop, &random)
                nextOutage = .now.advanced(by: .milliseconds(3_000 + random.below(5_000)))
            }
        }
    }

    private func outage(_ kind: Outage.Kind, _ random: inout SeededGenerator) async throws {
        for lane in lanes { lane.broke(outage: outages.all.count) }
        outages.begin(kind)
        switch kind {
        case .stop:
            if await !broker.stop() {
                print("chaos: the broker has not stored its sessions when it was stopped: it counts as killed")
                outages.stopWasKill()
            }
        case .kill: await broker.kill()
        }
        try await Task.sleep(for: .milliseconds(random.below(1_500)))
        try await broker.start()
        outages.end()
    }

    /// Notes which clients have their subscriptions again. A killed broker has lost them; a stopped broker has kept
    /// them.
    private func watchRecovery(_ now: ContinuousClock.Instant) {
        guard let last = outages.last, last.recovered == nil, let ended = last.ended else { return }
        let ready = last.kind == .stop ? clients : clients.filter { $0.hasSubscriptions(since: last.began) }
        for client in ready { outages.recovered(client.index) }
        if ready.count == clients.count { return outages.recovered() }
        guard ended.advanced(by: .seconds(20)) < now else { return }
        for client in clients where !client.hasSubscriptions(since: last.began) {
            verdict.violation("\(client.name) has not subscribed again after a kill", history: client.events.latest)
        }
        outages.recovered()
    }

    /// Stops the cuts and writers. Returns true if all operations ended in time.
    private func rest(_ writers: [Task<Void, Never>]) async -> Bool {
        for client in clients {
            client.proxy.calm()
            client.finish()
        }
        let isAtRest = await wait(at: Self.restTimeout) { [self] in
            watchRecovery(.now)
            return outages.last?.recovered != nil && awaits.count == 0 && lanes.allSatisfy(\.isDone)
        }
        guard isAtRest else { return false }
        for writer in writers { await writer.value }
        return true
    }

    private func judge(isAtRest: Bool, _ memory: ResidentMemory) {
        if !isAtRest { verdict.violation("not everything ended in \(Self.restTimeout)") }
        for lane in lanes { lane.settle(isOver: true) }
        awaits.judge(verdict)
        Floors(seconds: seconds).judge(seen, verdict)
        if showsLeaks { memory.judge(verdict) }
    }

    /// True if the run is long enough to judge its memory.
    private var showsLeaks: Bool { Duration.seconds(seconds) >= ResidentMemory.shortestRun }

    /// Returns the growth of the used heap since `before`, after it has freed the memory of the test itself.
    private func heapGrowth(since before: Int) -> HeapGrowth {
        for lane in lanes { lane.giveBackMemory() }
        for client in clients { client.proxy.releases.forget() }
        let messages = lanes.reduce(0) { $0 + $1.counts.published }
        return HeapGrowth(bytes: HeapGrowth.bytesInUse - before, messages: messages)
    }

    /// Ends the clients and the readers. Their ends must not hang, either.
    private func end(_ readers: [Task<Void, Never>]) async {
        for client in clients { await client.disconnect() }
        for (number, reader) in readers.enumerated() {
            reader.cancel()
            await awaits.track("the cancelled loop \(number)") { await reader.value }
        }
        for client in clients { client.proxy.close() }
    }

    private func wait(at most: Duration, until condition: () -> Bool) async -> Bool {
        let deadline = ContinuousClock.now.advanced(by: most)
        while !condition() {
            guard ContinuousClock.now < deadline else { return false }
            try? await Task.sleep(for: .milliseconds(20))
        }
        return true
    }
}

// MARK: - Reports

extension ChaosRun {
    private func counts(_ qos: QoS) -> Lane.Counts {
        lanes.filter { $0.qos == qos }.reduce(Lane.Counts()) { $0 + $1.counts }
    }

    private var seen: Floors.Seen {
        Floors.Seen(
            cuts: clients.reduce(0) { $0 + $1.proxy.totals.cuts },
            reconnects: clients.reduce(0) { $0 + $1.events.reconnects }, outages: outages.all.count,
            traffic: Dictionary(uniqueKeysWithValues: ChaosClient.qualities.map { ($0, counts($0)) }))
    }

    /// The broker's resident memory in bytes; 0 if the broker does not run.
    private var brokerMemory: Int { broker.processID.map { ProcessMemory.residentBytes(of: "\($0)") } ?? 0 }

    private func status(_ time: Duration, _ memory: ResidentMemory) {
        let traffic = ChaosClient.qualities.map { qos in
            let counts = counts(qos)
            return "\(counts.published)/\(counts.acknowledged)/\(counts.received)"
        }
        let all = outages.all
        print(
            """
            \(time.components.seconds) s: published/acknowledged/received QoS 0 \(traffic[0]), 1 \(traffic[1]), 2 \
            \(traffic[2]); \(clients.reduce(0) { $0 + $1.events.reconnects }) reconnects, \
            \(all.count { $0.kind == .stop }) stops, \(all.count { $0.kind == .kill }) kills, \
            \(clients.reduce(0) { $0 + $1.proxy.totals.cuts }) cuts; \((memory.samples.last ?? 0) >> 20) MiB, broker \
            \(brokerMemory >> 20) MiB
            """)
        fflush(nil)
    }

    private func summary(_ memory: ResidentMemory, _ growth: HeapGrowth) -> String {
        var lines = ["chaos: \(seconds) s with seed \(seed), \(clients.count) clients, half of them MQTT 3.1.1"]
        for qos in ChaosClient.qualities {
            let counts = counts(qos)
            lines.append(
                """
                  QoS \(qos.rawValue): \(counts.published) published, \(counts.acknowledged) acknowledged, \
                \(counts.failed) failed, \(counts.received) received, \(counts.repeated) repeated, \
                \(counts.excused) twice by the broker's mistake (\(counts.excusedWithoutStop) without a stop), \(counts.lostByKill) taken along by a kill
                """)
        }
        let all = outages.all
        let medians = memory.medians
        lines.append(
            """
              \(clients.reduce(0) { $0 + $1.events.reconnects }) reconnects, \(all.count { $0.kind == .stop }) stops, \
            \(all.count { $0.kind == .kill }) kills, \(clients.reduce(0) { $0 + $1.proxy.totals.cuts }) cuts
              resident memory: median \(medians.second >> 10) KiB in the second third, \(medians.last >> 10) KiB in the last
              heap at rest: \(growth.bytes >> 10) KiB more than before, \(String(format: "%.1f", growth.bytesPerMessage)) \
            bytes for each published message
            """)
        lines.append(
            verdict.violationCount == 0
                ? "chaos: all promises kept" : "chaos: \(verdict.violationCount) violations; seed \(seed)")
        return lines.joined(separator: "\n")
    }
}
