import CourierCore
import Synchronization
import TrialSupport

/// What has to arrive in a lane, what did, and in which order. It holds them against the delivery contract.
///
/// What is settled is forgotten after a while, so that a long run does not fill the memory.
final class LaneLedger: Sendable {
    /// One arrival: at the collector, or in the worker's hands.
    struct Arrival: Sendable {
        let at: ContinuousClock.Instant
        /// `nil` when it came out of the store, where it had waited for a reader.
        let packetID: UInt16?
        /// Which life of the receiver it was. The collector has one.
        var life = 0
        /// Whether its acknowledgement is out of the receiver's hands.
        var isDone = true
    }

    struct Counts: Sendable {
        /// What had to arrive.
        var expected = 0
        /// What did, each once.
        var arrived = 0
        /// What was stored in the instant of a kill, and arrived although nobody could say any more that it would.
        var unconfirmed = 0
        /// Further arrivals that the contract allows.
        var repeated = 0
        /// Those of QoS 2, between whose processing and acknowledgement a kill fell.
        var interrupted = 0
        /// Those of QoS 2 that are the broker's.
        var excused = 0

        static func + (left: Counts, right: Counts) -> Counts {
            Counts(
                expected: left.expected + right.expected, arrived: left.arrived + right.arrived,
                unconfirmed: left.unconfirmed + right.unconfirmed, repeated: left.repeated + right.repeated,
                interrupted: left.interrupted + right.interrupted, excused: left.excused + right.excused)
        }
    }

    private struct Record {
        /// When it was sent or accepted.
        var expected: ContinuousClock.Instant?
        var arrivals: [Arrival] = []
        /// The message that arrived first although it is a later one.
        var overtaking: MessageNumber?
    }

    private struct State {
        var records: [MessageNumber: Record] = [:]
        /// The highest number that has arrived.
        var last: MessageNumber?
        /// The highest number that was forgotten.
        var forgotten: MessageNumber?
        /// What each life of the writer may have stored last, without having said so.
        var unconfirmed: [Int: MessageNumber] = [:]
        var counts = Counts()
    }

    /// How long a settled message is kept, for an arrival that should not be.
    private static let kept = Duration.seconds(60)

    let lane: Lane
    private let releases: Releases
    private let outages: Outages
    private let findings: Findings
    private let state = Mutex(State())

    /// A ledger of a lane whose receiver is behind the proxy of `releases`.
    init(_ lane: Lane, releases: Releases, outages: Outages, findings: Findings) {
        self.lane = lane
        self.releases = releases
        self.outages = outages
        self.findings = findings
    }

    var counts: Counts { state.withLock { $0.counts } }
    /// How many messages have not arrived, or not been finished.
    var openCount: Int {
        state.withLock { state in
            state.records.values.count { record in
                record.expected != nil && !(record.arrivals.last?.isDone ?? false)
            }
        }
    }
}

// MARK: - What happens

extension LaneLedger {
    /// A message has to arrive.
    func expect(_ number: MessageNumber) {
        state.withLock { state in
            state.records[number, default: Record()].expected = .now
            state.counts.expected += 1
            let next = MessageNumber(number.value + 1)
            state.unconfirmed[number.life] = max(next, state.unconfirmed[number.life] ?? next)
        }
    }

    /// A message was not taken, and must not arrive.
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

    /// The receiver is done with the message that it got in this life.
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

    /// Whether the broker had forgotten that the exchange was over; see ``Releases``.
    private func isExcused(_ earlier: Arrival, _ arrival: Arrival, sent: ContinuousClock.Instant?) -> Bool {
        // What waited in the store came at some time since it was sent.
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
    /// Forgets what is settled.
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

    /// Reports what has not arrived, and what nobody wrote.
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
