import CourierCore
import Synchronization
import TrialSupport

/// The messages of one writer with one QoS, in the order in which they were published, with their results. Checks that
/// they keep the delivery contract.
///
/// Settled messages are removed after a while, so that the memory of the test itself does not grow.
final class Lane: Sendable {
    /// The result of a publish.
    enum End: Sendable {
        case receipt(ReasonCode)
        case failure(CourierError)
        case otherFailure(String)
    }

    /// The arrival of a message at one reader.
    struct Arrival: Sendable {
        let at: ContinuousClock.Instant
        let packetID: UInt16?
        let isDuplicate: Bool
    }

    /// A reader of a lane.
    struct Reader: Sendable {
        let name: String
        /// The client's index.
        let index: Int
        /// The PUBREL packets that the broker sent to the reader.
        let releases: Releases
        /// The packets of the reader's connections.
        let links: LinkHistory
    }

    /// Counts for the status line.
    struct Counts: Sendable {
        var published = 0
        var acknowledged = 0
        var failed = 0
        var received = 0
        /// Repeated arrivals that the contract allows.
        var repeated = 0
        /// Repeated QoS 2 arrivals that the broker caused.
        var excused = 0
        /// The part of `excused` that occurred without a stop of the broker.
        var excusedWithoutStop = 0
        /// Acknowledged messages that were lost because the broker was killed.
        var lostByKill = 0

        static func + (left: Counts, right: Counts) -> Counts {
            Counts(
                published: left.published + right.published, acknowledged: left.acknowledged + right.acknowledged,
                failed: left.failed + right.failed, received: left.received + right.received,
                repeated: left.repeated + right.repeated, excused: left.excused + right.excused,
                excusedWithoutStop: left.excusedWithoutStop + right.excusedWithoutStop,
                lostByKill: left.lostByKill + right.lostByKill)
        }
    }

    private struct Record {
        let published: ContinuousClock.Instant
        var end: (at: ContinuousClock.Instant, how: End)?
        /// The arrivals at each reader.
        var arrivals: [[Arrival]]
        /// For each reader, a later message that arrived before this one.
        var overtaken: [Int?]

        func hasArrived(at reader: Int) -> Bool { !arrivals[reader].isEmpty }
    }

    private struct State {
        /// The message number of the first element of `records`.
        var first = 0
        var records: [Record] = []
        /// The highest number that has arrived at each reader.
        var last: [Int]
        /// The value of `last` when the broker was stopped or killed, by the outage's index.
        var lastAtOutage: [Int: [Int]] = [:]
        var counts = Counts()

        var next: Int { first + records.count }
    }

    /// How long a settled message is kept, to recognize a late repetition.
    private static let kept = Duration.seconds(30)
    /// An acknowledged message of this age has reached every reader, because no reader is disconnected for longer.
    private static let grace = Duration.seconds(20)

    let name: String
    let id: Int
    let qos: QoS
    private let readers: [Reader]
    private let outages: Outages
    private let verdict: Verdict
    private let state: Mutex<State>

    /// Creates a lane without messages.
    init(_ name: String, id: Int, qos: QoS, readers: [Reader], outages: Outages, verdict: Verdict) {
        self.name = name
        self.id = id
        self.qos = qos
        self.outages = outages
        self.verdict = verdict
        self.readers = readers
        state = Mutex(State(last: readers.map { _ in -1 }))
    }

    var counts: Counts { state.withLock { $0.counts } }
    /// The number of publishes without a result.
    var openCount: Int { state.withLock { state in state.records.count { $0.end == nil } } }
}

// MARK: - Events

extension Lane {
    /// Notes that the next message will be published; returns its number.
    func publishing() -> Int {
        state.withLock { state in
            state.records.append(
                Record(
                    published: .now, end: nil, arrivals: state.last.map { _ in [] },
                    overtaken: state.last.map { _ in nil }))
            state.counts.published += 1
            return state.next - 1
        }
    }

    /// Notes the result of a publish.
    func ended(_ number: Int, _ how: End) {
        let outages = outages.all
        state.withLock { state in
            guard number >= state.first, state.records[number - state.first].end == nil else {
                return report("ended a second time, with \(how)", number, state)
            }
            state.records[number - state.first].end = (.now, how)
            let record = state.records[number - state.first]
            switch how {
            case .receipt(let code):
                state.counts.acknowledged += 1
                if code == .success { return }
                // After a kill, no reader is subscribed until all clients have recovered.
                let mayBeAlone =
                    code == .noMatchingSubscribers
                    && outages.contains { $0.kind == .kill && record.published < $0.recovered ?? .farFuture }
                if !mayBeAlone { report("was acknowledged with \(code)", number, state) }
            case .failure(let error):
                state.counts.failed += 1
                let mayFail =
                    qos == .zero
                    ? error.code == .connectionLost
                    : error.code == .connectionLost
                        && outages.contains { $0.isKill(between: record.published, and: record.end?.at) }
                if !mayFail { report("failed", number, state) }
            case .otherFailure:
                state.counts.failed += 1
                report("failed without a CourierError", number, state)
            }
        }
    }

    /// Notes that a reader received a message.
    func arrived(_ number: Int, at reader: Int, _ message: Message) {
        let outages = outages.all
        let arrival = Arrival(at: .now, packetID: message.packetID, isDuplicate: message.isDuplicate)
        state.withLock { state in
            state.counts.received += 1
            if message.qos != qos { report("arrived with \(message.qos)", number, state) }
            guard number < state.next else { return report("was never published, but arrived", number, state) }
            guard number >= state.first else {
                guard qos != .one else {
                    state.counts.repeated += 1
                    return
                }
                let id = arrival.packetID.map {
                    ", packet id \($0), which was \(readers[reader].releases.history(of: $0, verdict.clock))"
                }
                return report(
                    "arrived at \(readers[reader].name) long after it was settled" + (id ?? "")
                        + (arrival.isDuplicate ? ", marked as sent before" : ""), number, state)
            }
            let index = number - state.first
            let earlier = state.records[index].arrivals[reader].last
            state.records[index].arrivals[reader].append(arrival)
            if let earlier {
                repeated(number, reader, earlier, arrival, outages, &state)
            } else {
                arrivedFirst(number, reader, outages, &state)
            }
        }
    }

    /// Notes that the broker goes down. If it is killed, messages that have not arrived yet may be lost.
    func broke(outage: Int) {
        state.withLock { state in state.lastAtOutage[outage] = state.last }
    }

    private func repeated(
        _ number: Int, _ reader: Int, _ earlier: Arrival, _ arrival: Arrival, _ outages: [Outage], _ state: inout State
    ) {
        switch qos {
        case .one, .oneWithoutPersistenceAndNoRetry, .oneWithoutPersistenceAndRetry: state.counts.repeated += 1
        case .zero: report("of QoS 0 arrived twice at \(readers[reader].name)", number, state)
        case .two:
            let record = state.records[number - state.first]
            let isTwiceOpen =
                arrival.packetID.map { id in
                    id == earlier.packetID
                        && readers[reader].releases.wasOpenTwice(id, from: earlier.at, to: arrival.at)
                } ?? false
            let isExcused =
                isTwiceOpen
                || outages.contains { outage in
                    guard earlier.at <= outage.ended ?? .farFuture, outage.began <= arrival.at else { return false }
                    switch outage.kind {
                    case .kill: return outage.isKill(between: record.published, and: record.end?.at)
                    case .stop:
                        guard let id = arrival.packetID, id == earlier.packetID else { return false }
                        return readers[reader].releases.wasOpen(id, at: outage)
                    }
                }
            state.counts.excused += isExcused ? 1 : 0
            state.counts.excusedWithoutStop += isTwiceOpen ? 1 : 0
            if !isExcused { report("of QoS 2 arrived twice at \(readers[reader].name)", number, state) }
        }
    }

    private func arrivedFirst(_ number: Int, _ reader: Int, _ outages: [Outage], _ state: inout State) {
        let record = state.records[number - state.first]
        if qos == .zero, case .failure? = record.end?.how {
            report("arrived at \(readers[reader].name) though its sender was told that it failed", number, state)
        }
        if number > state.last[reader] {
            for passed in max(state.last[reader] + 1, state.first)..<number {
                state.records[passed - state.first].overtaken[reader] = number
            }
            state.last[reader] = number
        } else if !mayBeLost(number, reader, outages, state) {
            report(
                "arrived at \(readers[reader].name) behind message \(record.overtaken[reader] ?? -1)", number, state)
        }
    }

    /// Returns true if a kill of the broker may have lost the message, or delayed it until it was sent again.
    private func mayBeLost(_ number: Int, _ reader: Int, _ outages: [Outage], _ state: State) -> Bool {
        let record = state.records[number - state.first]
        return outages.enumerated().contains { index, outage in
            guard outage.kind == .kill, record.published < outage.recovery(of: readers[reader].index) else {
                return false
            }
            if case .receipt? = record.end?.how, let end = record.end?.at,
                end.advanced(by: Self.grace) < outage.began
            {
                return false
            }
            return number > state.lastAtOutage[index]?[reader] ?? .max
        }
    }
}

// MARK: - Judging

extension Lane {
    /// Removes settled messages, and reports those that should have arrived. With `isOver`, also reports publishes
    /// without a result.
    func settle(isOver: Bool) {
        let now = ContinuousClock.now
        let outages = outages.all
        state.withLock { state in
            var settled = 0
            for (offset, record) in state.records.enumerated() {
                guard let end = record.end else { break }
                if !isOver, end.at.advanced(by: Self.kept) > now { break }
                if qos != .zero, case .receipt = end.how {
                    for reader in readers.indices where !record.hasArrived(at: reader) {
                        if mayBeLost(state.first + offset, reader, outages, state) {
                            state.counts.lostByKill += 1
                        } else {
                            report(
                                "was acknowledged, but did not arrive at \(readers[reader].name)", state.first + offset,
                                state)
                        }
                    }
                }
                settled += 1
            }
            state.records.removeFirst(settled)
            state.first += settled
            guard isOver else { return }
            for offset in state.records.indices where state.records[offset].end == nil {
                report("has no end: its await or completion hangs", state.first + offset, state)
            }
        }
    }

    /// Frees the memory of the lists, if all messages are settled.
    func giveBackMemory() {
        state.withLock { state in
            guard state.records.isEmpty else { return }
            state.records = []
            state.lastAtOutage = [:]
        }
    }

    /// True if every publish has a result and every message has arrived where it must.
    var isDone: Bool {
        let outages = outages.all
        return state.withLock { state in
            state.records.indices.allSatisfy { offset in
                let record = state.records[offset]
                guard let end = record.end else { return false }
                guard qos != .zero, case .receipt = end.how else { return true }
                return readers.indices.allSatisfy { reader in
                    record.hasArrived(at: reader) || mayBeLost(state.first + offset, reader, outages, state)
                }
            }
        }
    }

    private func report(_ what: String, _ number: Int, _ state: State) {
        verdict.violation("message \(number) of \(name) \(what)", history: history(of: number, state))
    }

    private func history(of number: Int, _ state: State) -> String {
        guard number >= state.first, number < state.next else { return "no record of it is left" }
        let record = state.records[number - state.first]
        var lines = ["published at \(verdict.clock.time(record.published))"]
        lines.append(record.end.map { "ended at \(verdict.clock.time($0.at)): \($0.how)" } ?? "not ended")
        for reader in readers.indices {
            for arrival in record.arrivals[reader] {
                let id = arrival.packetID.map { ", packet id \($0)" } ?? ""
                lines.append(
                    "arrived at \(readers[reader].name) at \(verdict.clock.time(arrival.at))\(id)"
                        + (arrival.isDuplicate ? ", marked as sent before" : ""))
                if qos == .two, let id = arrival.packetID {
                    lines.append("    which was " + readers[reader].releases.history(of: id, verdict.clock))
                }
            }
            if record.hasArrived(at: reader) { continue }
            if let other = record.overtaken[reader] { lines.append("overtaken by \(other) at \(readers[reader].name)") }
            lines.append(
                "a new session was hidden from \(readers[reader].name): "
                    + readers[reader].releases.hiddenSessions(verdict.clock))
            lines.append("connections of it: " + readers[reader].links.words(verdict.clock))
        }
        for outage in outages.all.suffix(8) {
            lines.append(
                "broker: \(outage.kind) at \(verdict.clock.time(outage.began)), back at "
                    + "\(outage.ended.map { verdict.clock.time($0) } ?? "-"), all subscribed at "
                    + "\(outage.recovered.map { verdict.clock.time($0) } ?? "-")")
        }
        return lines.joined(separator: "\n")
    }
}
