import CourierCore
import Synchronization
import TrialSupport

/// The expected and arrived messages of a lane, and their order. Checks that they keep the delivery contract.
///
/// Settled messages are removed after a while, so that memory does not grow during a long run.
final class LaneLedger: Sendable {
    /// The arrival of one message, at the collector or at the worker.
    struct Arrival: Sendable {
        let at: ContinuousClock.Instant
        /// The packet id of the message; `nil` if it waited in the store for a reader.
        let packetID: UInt16?
        /// The number of the receiving worker process. It is always 0 for the collector.
        var life = 0
        /// True if the receiver has acknowledged the message.
        var isDone = true
    }

    struct Counts: Sendable {
        /// Messages that had to arrive.
        var expected = 0
        /// Messages that arrived, without repetitions.
        var arrived = 0
        /// Messages that arrived without confirmation: the worker was killed after it stored them and before it could
        /// report that.
        var unconfirmed = 0
        /// Repetitions that the contract allows.
        var repeated = 0
        /// Repetitions of QoS 2 messages, because the worker was killed between processing and acknowledgement.
        var interrupted = 0
        /// Repetitions of QoS 2 messages that the broker caused.
        var excused = 0

        static func + (left: Counts, right: Counts) -> Counts {
            Counts(
                expected: left.expected + right.expected, arrived: left.arrived + right.arrived,
                unconfirmed: left.unconfirmed + right.unconfirmed, repeated: left.repeated + right.repeated,
                interrupted: left.interrupted + right.interrupted, excused: left.excused + right.excused)
        }
    }

    private struct Record {
        /// When the message was sent or accepted.
        var expected: ContinuousClock.Instant?
        var arrivals: [Arrival] = []
        /// A later message that arrived before this one.
        var overtaking: MessageNumber?
    }

    private struct State {
        var records: [MessageNumber: Record] = [:]
        /// The highest number that has arrived.
        var last: MessageNumber?
        /// The highest number that was removed.
        var forgotten: MessageNumber?
        /// For each worker process, the one message that it may have stored without reporting it.
        var unconfirmed: [Int: MessageNumber] = [:]
        var counts = Counts()
    }

    /// How long a settled message is kept, to recognize a late repetition.
    private static let kept = Duration.seconds(60)

    let lane: Lane
    private let releases: Releases
    private let outages: Outages
    private let findings: Findings
    private let state = Mutex(State())

    /// Creates the ledger of a lane. `releases` belongs to the proxy of the lane's receiver.
    init(_ lane: Lane, releases: Releases, outages: Outages, findings: Findings) {
        self.lane = lane
        self.releases = releases
        self.outages = outages
        self.findings = findings
    }

    var counts: Counts { state.withLock { $0.counts } }
    /// The number of expected messages that have not arrived, or that the receiver has not acknowledged.
    var openCount: Int {
        state.withLock { state in
            state.records.values.count { record in
                record.expected != nil && !(record.arrivals.last?.isDone ?? false)
            }
        }
    }
}

// MARK: - Events

extension LaneLedger {
    /// Notes that a message was accepted and must arrive.
    func expect(_ number: MessageNumber) {
        state.withLock { state in
            state.records[number, default: Record()].expected = .now
            state.counts.expected += 1
            let next = MessageNumber(number.value + 1)
            state.unconfirmed[number.life] = max(next, state.unconfirmed[number.life] ?? next)
        }
    }

    /// Notes that a message was not accepted, and so must not arrive.
    func refused(_ number: MessageNumber, _ why: String) {
        findings.add(.other, "message \(number) of \(lane) was refused: \(why)")
        state.withLock { state in state.unconfirmed[number.life] = MessageNumber(number.value + 1) }
    }

    func arrived(_ number: MessageNumber, _ arrival: Arrival) {
        state.withLock { state in
            if state.records[number] == nil, let forgotten = state.forgotten, number <= forgotten {
                guard lane.qos == .two else {
                    state.counts.repeated += 1
                    return
                }
                return report(.doubled, "arrived again, long after it was settled", number, state)
            }
            let earlier = state.records[number]?.arrivals.last
            state.records[number, default: Record()].arrivals.append(arrival)
            if let earlier {
                repeated(number, earlier, arrival, &state)
            } else {
                arrivedFirst(number, &state)
            }
        }
    }

    /// Notes that the receiver has acknowledged the message that it received in this life.
    func done(_ number: MessageNumber, life: Int) {
        state.withLock { state in
            guard let last = state.records[number]?.arrivals.indices.last else { return }
            guard state.records[number]?.arrivals[last].life == life else { return }
            state.records[number]?.arrivals[last].isDone = true
        }
    }

    private func arrivedFirst(_ number: MessageNumber, _ state: inout State) {
        state.counts.arrived += 1
        guard let last = state.last, number < last else {
            state.last = number
            return
        }
        report(.disordered, "arrived behind message \(last)", number, state)
    }

    private func repeated(_ number: MessageNumber, _ earlier: Arrival, _ arrival: Arrival, _ state: inout State) {
        guard lane.qos == .two else {
            state.counts.repeated += 1
            return
        }
        if !earlier.isDone, earlier.life != arrival.life {
            state.counts.interrupted += 1
        } else if isExcused(earlier, arrival, sent: state.records[number]?.expected) {
            state.counts.excused += 1
            findings.remark("message \(number) of \(lane) is excused", history: history(of: number, state))
        } else {
            report(.doubled, "arrived twice", number, state)
        }
    }

    /// Returns true if the broker caused the repetition, because it forgot the end of the exchange; see ``Releases``.
    private func isExcused(_ earlier: Arrival, _ arrival: Arrival, sent: ContinuousClock.Instant?) -> Bool {
        // A message from the store may have arrived at any time after it was sent.
        let start = earlier.packetID == nil ? sent ?? earlier.at : earlier.at
        let stops = outages.all.filter { start <= $0.ended ?? .farFuture && $0.began <= arrival.at }
        guard let id = arrival.packetID ?? earlier.packetID else { return !stops.isEmpty }
        guard id == earlier.packetID ?? id else { return false }
        return releases.wasOpenTwice(id, from: start, to: arrival.at)
            || stops.contains { releases.wasOpen(id, at: $0) }
    }
}

// MARK: - Judging

extension LaneLedger {
    /// Removes settled messages.
    func prune() {
        let horizon = ContinuousClock.now.advanced(by: .zero - Self.kept)
        state.withLock { state in
            var forgotten = state.forgotten
            state.records = state.records.filter { number, record in
                guard record.expected != nil, let last = record.arrivals.last, last.isDone, last.at < horizon else {
                    return true
                }
                forgotten = max(forgotten ?? number, number)
                return false
            }
            state.forgotten = forgotten
        }
    }

    /// Reports messages that have not arrived, and messages that arrived without being accepted.
    func judge() {
        state.withLock { state in
            for (number, record) in state.records.sorted(by: { $0.key < $1.key }) {
                if record.expected != nil {
                    if record.arrivals.isEmpty { report(.lost, "did not arrive", number, state) }
                } else if number == state.unconfirmed[number.life] ?? MessageNumber(life: number.life, index: 0) {
                    state.counts.unconfirmed += 1
                } else {
                    report(.other, "arrived, but was not accepted", number, state)
                }
            }
        }
    }

    private func report(_ kind: Findings.Kind, _ what: String, _ number: MessageNumber, _ state: State) {
        findings.add(kind, "message \(number) of \(lane) \(what)", history: history(of: number, state))
    }

    private func history(of number: MessageNumber, _ state: State) -> String {
        var lines: [String] = []
        for arrival in state.records[number]?.arrivals ?? [] {
            let id = arrival.packetID.map { ", packet id \($0)" } ?? ""
            lines.append(
                "arrived at \(findings.time(arrival.at)) in life \(arrival.life)\(id)"
                    + (arrival.isDone ? "" : ", not acknowledged"))
            if lane.qos == .two, let id = arrival.packetID {
                lines.append("    \(releases.history(of: id, findings.clock))")
            }
        }
        for outage in outages.all.suffix(3) {
            let end = outage.ended.map { findings.time($0) } ?? "-"
            lines.append("broker: restarted from \(findings.time(outage.began)) to \(end)")
        }
        return lines.joined(separator: "\n")
    }
}
