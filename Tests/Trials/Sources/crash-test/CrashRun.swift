import CourierCore
import CourierSQLite
import CourierTransport
import Foundation
import Glibc
import Synchronization
import TrialSupport

/// Kills and restarts a worker until the time is over, and checks its messages.
final class CrashRun: Sendable {
    /// The settings of a run.
    struct Settings: Sendable {
        var seconds = 60
        /// The number of kills after which the run ends early.
        var kills = Int.max
        var seed: UInt64 = 1
        var store = StoreKind.normal
        /// At the end, if nothing arrives for this time, the missing messages count as lost.
        var patience = Duration.seconds(15)
        /// If true, the store and the journal are always kept.
        var keepsFolder = false
        /// If true, the run prints nothing.
        var isQuiet = false
    }

    /// The counts of a run.
    struct Outcome: Sendable {
        var kills = 0
        /// The number of kills before the worker was connected.
        var earlyKills = 0
        var restarts = 0
        /// How often the broker was suspended for a moment, so that more messages are in flight at the next kill.
        var freezes = 0
        /// The longest time from a worker's start to its connections, while the broker runs.
        var slowestStart = Duration.zero
    }

    /// The longest time until a worker is connected, including a restart of the broker.
    private static let startTimeout = Duration.seconds(30)
    /// The longest suspension of the broker, in milliseconds.
    private static let longestFreeze = 200
    /// The longest time for the start and the end of a run together, in seconds.
    private static let endSeconds = 240
    /// How long the run waits for unexpected messages at the end.
    private static let listening = Duration.milliseconds(1_500)
    private static let statusInterval = Duration.seconds(10)

    let findings: Findings
    private let settings: Settings
    private let folder: TemporaryFolder
    private let journal: Journal
    private let broker: RealBroker
    private let loop: EventLoop
    private let outages = Outages()
    /// The proxies between the broker and the collector, and between the broker and the worker's clients. They record
    /// the PUBREL packets of the broker.
    private let proxies: [CuttingProxy]
    private let ledgers: [LaneLedger]
    private let peers: Peers
    /// The longest time that a worker needed to open the store, in milliseconds.
    private let slowestOpening = Mutex(0)

    /// Starts the broker, and creates the objects that live for the whole run.
    init(_ settings: Settings) async throws {
        self.settings = settings
        folder = try TemporaryFolder()
        journal = try Journal(folder.file("journal.txt"))
        let findings = Findings(isQuiet: settings.isQuiet, journal: journal)
        self.findings = findings
        loop = try EventLoop(name: "crash-proxy")
        let broker = try await RealBroker.boundless()
        self.broker = broker
        proxies = try (0...Lane.clientCount).map { [loop] _ in
            let proxy = try CuttingProxy(to: broker.endpoint, isVersion311: false, seed: 0, on: loop)
            proxy.calm()  // The proxy only records packets.
            return proxy
        }
        ledgers = Lane.all.map { [outages, proxies] lane in
            let receiver = lane.direction == .up ? Lane.clientCount : lane.client
            return LaneLedger(lane, releases: proxies[receiver].releases, outages: outages, findings: findings)
        }
        peers = Peers(
            collectorPort: proxies[Lane.clientCount].port, sourcePort: broker.port, ledgers: ledgers,
            findings: findings)
    }

    /// Runs the test and returns its counts. If nothing was found, removes the folder.
    func run() async throws -> Outcome {
        TimeLimit(seconds: settings.seconds + Self.endSeconds).watch(broker, journal, folder)
        try await peers.start()
        var outcome = Outcome()
        let lives = try await kill(&outcome)
        peers.calm()
        await rest(try start(life: lives, isLast: true), &outcome)
        for ledger in ledgers { ledger.judge() }
        judgeFloors(outcome)
        await peers.end()
        for proxy in proxies { proxy.close() }
        await checkStore()
        await broker.remove()
        journal.flush()
        if findings.isEmpty, !settings.keepsFolder { folder.remove() } else { folder.keep() }
        return outcome
    }

    /// The folder of the store and the journal. It exists after the run if something was found.
    var path: String { folder.path }

    /// Removes the folder that was kept for the findings.
    func clean() { folder.remove() }
}

// MARK: - Steps of a run

extension CrashRun {
    private func start(life: Int, isLast: Bool = false) throws -> WorkerProcess {
        let orders = WorkerOrders(
            part: .delivery, folder: folder.path, store: settings.store,
            ports: proxies.prefix(Lane.clientCount).map(\.port), life: life, seed: settings.seed, isLast: isLast)
        journal.note("life \(life) begins")
        return try WorkerProcess(orders) { [self] in heard($0, life) }
    }

    private func heard(_ line: WorkerLine, _ life: Int) {
        journal.note(line.text)
        switch line {
        case .accepted(let lane, let number): ledgers[lane.id].expect(number)
        case .refused(let lane, let number, let why): ledgers[lane.id].refused(number, why)
        case .processing(let lane, let number, let packetID):
            let arrival = LaneLedger.Arrival(
                at: .now, packetID: packetID == 0 ? nil : packetID, life: life, isDone: false)
            ledgers[lane.id].arrived(number, arrival)
        case .done(let lane, let number): ledgers[lane.id].done(number, life: life)
        case .trouble(let what): findings.add(.other, "life \(life) of the worker: \(what)")
        case .opened(let milliseconds): slowestOpening.withLock { $0 = max($0, milliseconds) }
        case .ready: break
        }
    }

    /// Starts and kills the worker until the time is over. Returns the number of started workers.
    private func kill(_ outcome: inout Outcome) async throws -> Int {
        var random = SeededGenerator(seed: settings.seed)
        let start = ContinuousClock.now
        let end = start.advanced(by: .seconds(settings.seconds))
        var nextStatus = start.advanced(by: Self.statusInterval)
        var restart: Task<Void, any Error>?
        var freeze: Task<Void, Never>?
        var life = 0
        while ContinuousClock.now < end, outcome.kills < settings.kills, life < MessageNumber.lives {
            let worker = try self.start(life: life)
            defer { life += 1 }
            if life > 0, random.chance(15) {
                try await Task.sleep(for: .milliseconds(random.below(250)))
                if worker[.ready] == nil { outcome.earlyKills += 1 }
            } else {
                guard await worker.wait(for: .ready, at: Self.startTimeout) else {
                    findings.add(.other, "life \(life) of the worker was not connected in \(Self.startTimeout)")
                    await worker.kill()
                    break
                }
                if life == 0 { peers.write(seed: settings.seed &+ 1) }
                try await Task.sleep(for: Self.pause(&random))
                if random.chance(40) {
                    await freeze?.value
                    freeze = freezeBroker(for: .milliseconds(random.below(Self.longestFreeze)))
                    outcome.freezes += 1
                    try await Task.sleep(for: .milliseconds(random.below(Self.longestFreeze)))
                }
            }
            let hasEnded = worker[.ended] != nil
            if hasEnded { findings.add(.other, "life \(life) of the worker ended by itself") }
            journal.note("life \(life) is killed")
            await worker.kill()
            outcome.kills += 1
            note(worker, &outcome)
            let hasBroker = outages.last.map { $0.ended != nil } ?? true
            if hasBroker, outcome.kills >= 10 * (outcome.restarts + 1), random.chance(25) {
                outages.begin(.stop)
                let pause = Duration.milliseconds(random.below(1_000))
                restart = Task { [self] in try await restartBroker(pause) }
                outcome.restarts += 1
            }
            if ContinuousClock.now >= nextStatus {
                for ledger in ledgers { ledger.prune() }
                for proxy in proxies { proxy.releases.prune() }
                status(ContinuousClock.now - start, outcome)
                nextStatus = .now.advanced(by: Self.statusInterval)
            }
        }
        await freeze?.value
        try await restart?.value
        return life
    }

    /// Returns a random time from 0.05 to 2 seconds; most are short.
    private static func pause(_ random: inout SeededGenerator) -> Duration {
        let share = Double(random.below(1_000_000) + 1) / 1_000_000
        return .seconds(min(2, 0.05 - 0.35 * log(share)))
    }

    private func restartBroker(_ pause: Duration) async throws {
        journal.note("the broker is stopped")
        await broker.stop()
        try await Task.sleep(for: pause)
        try await broker.start()
        outages.end()
        journal.note("the broker runs again")
    }

    /// Suspends the broker, if it runs. The returned task ends when the broker continues.
    private func freezeBroker(for duration: Duration) -> Task<Void, Never>? {
        guard let id = broker.processID else { return nil }
        journal.note("the broker stands still for \(duration)")
        Glibc.kill(id, SIGSTOP)
        return Task {
            try? await Task.sleep(for: duration)
            Glibc.kill(id, SIGCONT)
        }
    }

    private func note(_ worker: WorkerProcess, _ outcome: inout Outcome) {
        guard let ready = worker[.ready] else { return }
        let hadBroker = !outages.all.contains { outage in
            outage.began < ready && worker.started < (outage.ended ?? .farFuture).advanced(by: .seconds(3))
        }
        if hadBroker { outcome.slowestStart = max(outcome.slowestStart, ready - worker.started) }
    }

    /// Waits until all messages have arrived, and then ends the worker with SIGINT.
    private func rest(_ worker: WorkerProcess, _ outcome: inout Outcome) async {
        if await !worker.wait(for: .ready, at: Self.startTimeout) {
            findings.add(.other, "the last worker was not connected in \(Self.startTimeout)")
        }
        var (open, last) = (Int.max, ContinuousClock.now)
        while open > 0, ContinuousClock.now < last.advanced(by: settings.patience) {
            try? await Task.sleep(for: .milliseconds(20))
            let left = ledgers.reduce(0) { $0 + $1.openCount }
            if left < open { (open, last) = (left, .now) }
        }
        try? await Task.sleep(for: Self.listening)
        note(worker, &outcome)
        switch await worker.finish(at: .seconds(20)) {
        case 0?: break
        case let status?: findings.add(.other, "the last worker ended with status \(status)")
        case nil: findings.add(.other, "the last worker did not end by SIGINT")
        }
    }

    private func judgeFloors(_ outcome: Outcome) {
        let floors = Floors(kills: outcome.kills)
        for qos in Lane.qualities {
            floors.judge(counts(.up, qos), of: "outgoing messages of QoS \(qos.rawValue)", findings)
            floors.judge(counts(.down, qos), of: "incoming messages of QoS \(qos.rawValue)", findings)
        }
    }

    /// Checks that all messages were delivered and no row remains in the store.
    private func checkStore() async {
        switch settings.store {
        case .memory, .forgetful, .mute, .jobless, .repeating: return
        case .normal, .full: break
        }
        guard findings.isEmpty else { return }
        do {
            let store = try SQLiteMessageStore(at: StoreKind.file(in: folder.path))
            for (scope, summary) in try await store.scopes() {
                let ids = try await store.incomingPacketIDs(in: scope)
                if summary.outgoingCount + summary.incomingCount + ids.count > 0 {
                    findings.add(.other, "rows are left: \(scope.clientID) has \(summary), packet ids \(ids.sorted())")
                }
            }
            await store.close()
        } catch {
            findings.add(.other, "the store can not be opened at the end: \(error)")
        }
    }
}

// MARK: - Reports

extension CrashRun {
    private func counts(_ direction: Lane.Direction, _ qos: QoS) -> LaneLedger.Counts {
        ledgers.filter { $0.lane.direction == direction && $0.lane.qos == qos }
            .reduce(LaneLedger.Counts()) { $0 + $1.counts }
    }

    private func status(_ time: Duration, _ outcome: Outcome) {
        guard !settings.isQuiet else { return }
        let traffic = [Lane.Direction.up, .down].flatMap { direction in
            Lane.qualities.map { qos in
                let counts = counts(direction, qos)
                return "\(counts.arrived)/\(counts.expected)"
            }
        }
        print(
            """
            \(time.components.seconds) s: \(outcome.kills) kills, \(outcome.restarts) restarts; arrived/accepted QoS 1 \
            \(traffic[0]), QoS 2 \(traffic[1]); processed/sent QoS 1 \(traffic[2]), QoS 2 \(traffic[3])
            """)
        fflush(nil)
    }

    func summary(_ outcome: Outcome) -> String {
        var lines = [
            """
            crash-test: seed \(settings.seed), \(outcome.kills) kills, \(outcome.earlyKills) of them before the connection, \
            \(outcome.restarts) restarts of the broker, which stood still \(outcome.freezes) times
            """
        ]
        for qos in Lane.qualities {
            let up = counts(.up, qos)
            lines.append(
                """
                  outgoing QoS \(qos.rawValue): \(up.expected) accepted, \(up.arrived) arrived, \(up.unconfirmed) of them \
                stored in the instant of a kill, \(up.repeated) repeated, \(up.excused) twice by the broker's mistake
                """)
        }
        for qos in Lane.qualities {
            let down = counts(.down, qos)
            lines.append(
                """
                  incoming QoS \(qos.rawValue): \(down.expected) sent, \(down.arrived) processed, \
                \(down.repeated) repeated, \(down.interrupted) killed while in work and worked on again, \
                \(down.excused) twice by the broker's mistake
                """)
        }
        lines.append(
            """
              slowest start: \(String(format: "%.3f", outcome.slowestStart / .seconds(1))) s from the process to its \
            connections; slowest opening of the store: \(slowestOpening.withLock { $0 }) ms
            """)
        lines.append(findings.verdict(folder: path, isKept: settings.keepsFolder))
        return lines.joined(separator: "\n")
    }
}
