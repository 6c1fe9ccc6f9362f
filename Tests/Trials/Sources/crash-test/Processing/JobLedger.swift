import CourierCore
import Synchronization
import TrialSupport

/// The messages that were sent to the worker, and the worker's notes about them. Checks that no message is lost, and
/// that none is handled again after its success was recorded.
final class JobLedger: Sendable {
    struct Counts: Sendable {
        var sent = 0
        /// Messages that were handled at least once.
        var handled = 0
        /// Messages that are parked, and were never handled.
        var parked = 0
        /// Messages that were handled again, because the kill came between the handler's note and the recorded success.
        var interrupted = 0
        /// Messages that the broker sent again after they had been handled or parked, and that became another job.
        var repeated = 0
        /// QoS 2 messages that became another job by the broker's mistake; see ``Releases``.
        var excused = 0
    }

    private struct Record {
        var sent: ContinuousClock.Instant?
        /// The number of the newest process that has noted something about the message.
        var life = 0
        /// The number of the message's jobs that process has stored or found, and not removed or parked.
        var jobCount = 0
        /// The number of those jobs when the process before was killed. Its last changes may not have been stored.
        var earlierJobCount = 0
        /// The number of jobs that the newest process found in the store.
        var foundCount = 0
        /// True if the newest process has found all jobs of the message. A process may be killed while it reads the
        /// store page by page.
        var isLoaded = false
        var handledCount = 0
        /// The process in which the message was handled last, until the success is recorded.
        var unrecorded: Int?
        var wasParked = false

        /// True if the message has ended for the sender of messages.
        var isSettled: Bool { handledCount > 0 || wasParked }
    }

    private struct State {
        var records: [JobMessage: Record] = [:]
        /// For each lane, the number of messages that are neither handled nor parked.
        var openCounts = [Int](repeating: 0, count: JobLane.all.count)
        /// For each lane, the highest number that was handled.
        var highest: [JobLane: Int] = [:]
        var counts = Counts()
    }

    private let releases: Releases
    private let findings: Findings
    private let state = Mutex(State())

    /// Creates a ledger. `releases` belongs to the proxy between broker and worker.
    init(_ releases: Releases, _ findings: Findings) {
        self.releases = releases
        self.findings = findings
    }

    var counts: Counts { state.withLock { $0.counts } }

    /// The number of messages that are neither handled nor parked.
    var openCount: Int { state.withLock { $0.openCounts.reduce(0, +) } }

    func openCount(of lane: JobLane) -> Int { state.withLock { $0.openCounts[lane.id] } }

    /// Notes that a message is being sent, and so must be handled or parked.
    func sent(_ message: JobMessage) {
        state.withLock { state in
            state.records[message, default: Record()].sent = .now
            state.counts.sent += 1
            state.openCounts[message.lane.id] += 1
        }
    }

    /// Checks a note of the worker. Notes must be passed in their order.
    func noted(_ note: JobNote) {
        state.withLock { state in
            guard var record = state.records[note.message], record.sent != nil else {
                return findings.add(.other, "\(note.message) was not sent, and is \(note.event.rawValue)")
            }
            let wasSettled = record.isSettled
            if record.life != note.life {
                record.life = note.life
                record.earlierJobCount =
                    record.isLoaded ? record.jobCount : max(record.jobCount, record.earlierJobCount)
                (record.jobCount, record.foundCount, record.isLoaded) = (0, 0, false)
            }
            if note.event != .found, note.event != .foundParked { record.isLoaded = true }
            check(note, &record, &state)
            if !wasSettled, record.isSettled { state.openCounts[note.message.lane.id] -= 1 }
            state.records[note.message] = record
        }
    }

    private func check(_ note: JobNote, _ record: inout Record, _ state: inout State) {
        switch note.event {
        case .found:
            record.jobCount += 1
            record.foundCount += 1
            if record.foundCount > record.earlierJobCount {
                report(.doubled, "is in the store after its success was recorded", note)
            }
        case .foundParked: record.wasParked = true
        case .storing:
            if record.jobCount > 0 || record.isSettled { becameAnotherJob(note, record, &state) }
            if record.jobCount == 0 { record.unrecorded = nil }
            record.jobCount += 1
        case .handled: handled(note, &record, &state)
        case .recorded:
            record.jobCount -= 1
            record.unrecorded = nil
        case .parked:
            record.jobCount -= 1
            record.wasParked = true
        }
    }

    private func handled(_ note: JobNote, _ record: inout Record, _ state: inout State) {
        if record.jobCount == 0 {
            report(.doubled, "was handled without a job in the store", note)
        } else if record.unrecorded == note.life, record.jobCount == 1 {
            report(.doubled, "was handled twice by one process", note)
        } else if let life = record.unrecorded, life != note.life {
            state.counts.interrupted += 1
        }
        record.unrecorded = note.life
        record.handledCount += 1
        guard record.handledCount == 1 else { return }
        state.counts.handled += 1
        let (lane, number) = (note.message.lane, note.message.number)
        // A copy of a parked message may come later.
        if lane.kind == .ordered, !record.wasParked, let highest = state.highest[lane], highest > number {
            report(.disordered, "was handled after message \(highest)", note)
        }
        state.highest[lane] = max(number, state.highest[lane] ?? number)
    }

    /// Checks a job of a message that has a job already, or was handled or parked.
    private func becameAnotherJob(_ note: JobNote, _ record: Record, _ state: inout State) {
        let lane = note.message.lane
        let mayRepeat = lane.kind == .unordered || record.wasParked && record.handledCount == 0
        let isExcused = record.sent.map { releases.wasOpenTwice(note.packetID, from: $0, to: .now) } ?? false
        if mayRepeat, lane.qos == .one {
            state.counts.repeated += 1
        } else if mayRepeat, isExcused {
            state.counts.excused += 1
        } else {
            report(.doubled, "became another job", note)
        }
    }

    /// Checks that every message was handled, or is among the parked messages.
    func judge(parked: Set<JobMessage>) {
        state.withLock { state in
            for (message, record) in state.records where record.handledCount == 0 {
                if parked.contains(message) {
                    state.counts.parked += 1
                } else {
                    findings.add(.lost, "\(message) was not handled, and is not parked", history: "\(record)")
                }
            }
        }
    }

    private func report(_ kind: Findings.Kind, _ what: String, _ note: JobNote) {
        findings.add(kind, "\(note.message) \(what), in life \(note.life)")
    }
}
