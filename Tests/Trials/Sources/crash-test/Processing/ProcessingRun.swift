import CourierCore
import CourierSQLite
import CourierTransport
import Foundation
import Synchronization
import TrialSupport

/// The second part of the test: kills and restarts a worker that handles messages with processors.
final class ProcessingRun: Sendable {
    /// The longest time until a worker is subscribed.
    private static let startTimeout = Duration.seconds(30)
    /// The longest time for the start and the end of a run together, in seconds.
    private static let endSeconds = 240
    private static let noteInterval = Duration.milliseconds(10)
    /// How long the run waits for unexpected messages at the end.
    private static let listening = Duration.milliseconds(300)
    /// At least this many messages per kill must be handled, if there are enough kills.
    private static let messagesPerKill = 1

    let findings: Findings
    private let settings: CrashRun.Settings
    private let folder: TemporaryFolder
    private let journal: Journal
    private let broker: RealBroker
    /// The proxy between broker and worker. It records the PUBREL packets of the broker.
    private let proxy: CuttingProxy
    private let ledger: JobLedger
    private let source: JobSource
    private let notes: Mutex<NoteReader>
    private let counts = Mutex((kills: 0, earlyKills: 0, cutNotes: 0))

    /// Starts the broker, and creates the objects that live for the whole run.
    init(_ settings: CrashRun.Settings) async throws {
        self.settings = settings
        folder = try TemporaryFolder()
        journal = try Journal(folder.file("journal.txt"))
        findings = Findings(isQuiet: settings.isQuiet, journal: journal)
        broker = try await RealBroker.boundless()
        proxy = try CuttingProxy(
            to: broker.endpoint, isVersion311: false, seed: 0, on: try EventLoop(name: "processing-proxy"))
        proxy.calm()  // The proxy only records packets.
        ledger = JobLedger(proxy.releases, findings)
        source = JobSource(port: broker.port, ledger, findings)
        notes = Mutex(try NoteReader(ProcessingWorker.noteFile(in: folder.path)))
    }

    /// Runs the test. If nothing was found, removes the folder.
    func run() async throws {
        TimeLimit(seconds: settings.seconds + Self.endSeconds).watch(broker, journal, folder)
        let reading = Task { [self] in
            while !Task.isCancelled {
                readNotes()
                try? await Task.sleep(for: Self.noteInterval)
            }
        }
        let lives = try await kill()
        await source.finish()
        await rest(try start(life: lives, isLast: true))
        reading.cancel()
        await reading.value
        readNotes()
        ledger.judge(parked: await parkedMessages())
        judgeFloor()
        proxy.close()
        await broker.remove()
        journal.flush()
        if findings.isEmpty, !settings.keepsFolder { folder.remove() } else { folder.keep() }
    }

    /// Removes the folder that was kept for the findings.
    func clean() { folder.remove() }

    private func readNotes() {
        notes.withLock { reader in
            do {
                let (notes, cutCount) = try reader.next()
                let (cut, kills) = counts.withLock { counts in
                    counts.cutNotes += cutCount
                    return (counts.cutNotes, counts.kills)
                }
                // A worker that is being killed may have cut its last note already.
                if cut > kills + 1 { findings.add(.other, "\(cut) notes are cut after \(kills) kills") }
                for note in notes {
                    journal.note(note.line)
                    ledger.noted(note)
                }
            } catch {
                findings.add(.other, "the notes can not be read: \(error)")
            }
        }
    }
}

// MARK: - Steps of a run

extension ProcessingRun {
    private func start(life: Int, isLast: Bool = false) throws -> WorkerProcess {
        let orders = WorkerOrders(
            part: .processing, folder: folder.path, store: settings.store, ports: [proxy.port], life: life,
            seed: settings.seed, isLast: isLast)
        journal.note("life \(life) begins")
        return try WorkerProcess(orders) { [findings] line in
            if case .trouble(let what) = line { findings.add(.other, "life \(life) of the worker: \(what)") }
        }
    }

    /// Starts and kills the worker until the time is over. Returns the number of started workers.
    private func kill() async throws -> Int {
        var random = SeededGenerator(seed: settings.seed)
        let end = ContinuousClock.now.advanced(by: .seconds(settings.seconds))
        var life = 0
        while ContinuousClock.now < end, life < settings.kills {
            let worker = try start(life: life)
            defer { life += 1 }
            if life > 0, random.chance(15) {
                try await Task.sleep(for: .milliseconds(random.below(80)))
                if worker[.ready] == nil { counts.withLock { $0.earlyKills += 1 } }
            } else {
                guard await worker.wait(for: .ready, at: Self.startTimeout) else {
                    findings.add(.other, "life \(life) of the worker was not subscribed in \(Self.startTimeout)")
                    await worker.kill()
                    break
                }
                if life == 0 { try await source.start(seed: settings.seed &+ 1) }
                try await Task.sleep(for: .milliseconds(random.below(random.pick([60, 200, 600]))))
            }
            if worker[.ended] != nil { findings.add(.other, "life \(life) of the worker ended by itself") }
            journal.note("life \(life) is killed")
            await worker.kill()
            counts.withLock { $0.kills += 1 }
            proxy.releases.prune()
        }
        return life
    }

    /// Waits until all messages are handled or parked, and then ends the worker with SIGINT.
    private func rest(_ worker: WorkerProcess) async {
        if await !worker.wait(for: .ready, at: Self.startTimeout) {
            findings.add(.other, "the last worker was not subscribed in \(Self.startTimeout)")
        }
        var (open, last) = (Int.max, ContinuousClock.now)
        while open > 0, ContinuousClock.now < last.advanced(by: settings.patience) {
            try? await Task.sleep(for: Self.noteInterval)
            let left = ledger.openCount
            if left < open { (open, last) = (left, .now) }
        }
        try? await Task.sleep(for: Self.listening)
        switch await worker.finish(at: .seconds(20)) {
        case 0?: break
        case let status?: findings.add(.other, "the last worker ended with status \(status)")
        case nil: findings.add(.other, "the last worker did not end by SIGINT")
        }
    }

    /// Returns the parked messages in the store, and checks that it has no other rows.
    private func parkedMessages() async -> Set<JobMessage> {
        var parked: Set<JobMessage> = []
        do {
            let store = try SQLiteMessageStore(at: StoreKind.file(in: folder.path))
            for scope in try await store.scopes().map(\.0) {
                var last: StoredMessage.ID?
                while case let page = try await store.jobs(in: scope, after: last, limit: 1_000), !page.isEmpty {
                    for job in page {
                        let message = JobMessage(topic: job.message.topic, payload: Data(job.message.payload))
                        if let message, job.state.isParked {
                            parked.insert(message)
                        } else {
                            findings.add(.other, "a job is left: \(job.state), \(message.map { "\($0)" } ?? "damaged")")
                        }
                    }
                    last = page.last?.message.id
                }
                let ids = try await store.incomingPacketIDs(in: scope)
                if !ids.isEmpty { findings.add(.other, "packet ids are left: \(ids.sorted())") }
            }
            await store.close()
        } catch {
            findings.add(.other, "the store can not be read at the end: \(error)")
        }
        return parked
    }

    private func judgeFloor() {
        let (kills, handled) = (counts.withLock { $0.kills }, ledger.counts.handled)
        guard kills >= Floors.fewestKills, handled < kills * Self.messagesPerKill else { return }
        findings.add(.other, "only \(handled) messages were handled, with \(kills) kills")
    }

    /// The counts of the run, as text.
    var summary: String {
        let (kills, messages) = (counts.withLock { $0 }, ledger.counts)
        return """
            crash-test, processing: seed \(settings.seed), \(kills.kills) kills, \(kills.earlyKills) of them before the \
            subscription
              \(messages.sent) sent, \(messages.handled) handled, \(messages.parked) parked, \(findings[.lost]) lost
              \(messages.interrupted) handled again, because the kill came before the success was recorded; \
            \(messages.repeated) sent again by the broker, \(messages.excused) by the broker's mistake
            \(findings.verdict(folder: folder.path, isKept: settings.keepsFolder))
            """
    }
}
