import CourierCore
import Synchronization
import TrialSupport

/// Records the events of one client, and checks each against the grammar. Keeps the last events for a report.
final class EventRecord: ICourierEventHandler, Sendable {
    private struct State {
        var grammar = EventGrammar()
        var reported = 0
        var latest: [String] = []
        var granted: [String: ContinuousClock.Instant] = [:]
        var reconnects = 0
        var received = 0
    }

    /// The number of events in a report.
    private static let shown = 25

    private let name: String
    private let verdict: Verdict
    private let state = Mutex(State())

    init(_ name: String, _ verdict: Verdict) {
        self.name = name
        self.verdict = verdict
    }

    /// The number of attempts after a loss or a failure.
    var reconnects: Int { state.withLock { $0.reconnects } }
    /// The last events, as text.
    var latest: String { state.withLock { $0.latest.joined(separator: "\n") } }

    /// Returns true if all these filters were granted after `instant`.
    func hasGranted(_ filters: [String], since instant: ContinuousClock.Instant) -> Bool {
        state.withLock { state in filters.allSatisfy { state.granted[$0].map { $0 >= instant } ?? false } }
    }

    /// Reports starts without an end, because a client at rest must have none. Also reports if the number of receive
    /// events differs from `read`, the number of messages that the readers got.
    func judgeRest(read: Int) {
        let (open, received) = state.withLock { ($0.grammar.openStarts, $0.received) }
        if !open.isEmpty { verdict.violation("\(name) is at rest with \(open)", history: latest) }
        if received != read { verdict.violation("\(name) told of \(received) messages, and its readers got \(read)") }
    }

    func onEvent(_ event: CourierEvent) {
        let broken = state.withLock { state -> [EventGrammar.Violation] in
            state.grammar.record(event.type)
            note(event.type, in: &state)
            let broken = Array(state.grammar.violations.dropFirst(state.reported))
            state.reported += broken.count
            return broken
        }
        for violation in broken { verdict.violation("events of \(name): \(violation)", history: latest) }
    }

    private func note(_ event: CourierEventType, in state: inout State) {
        switch event {
        case .reconnect: state.reconnects += 1
        case .subscribeSuccess(let topics, _): for (topic, _) in topics { state.granted[topic] = .now }
        case .messageReceive:
            state.received += 1
            return  // Too many to be shown, like send events.
        case .messageSend, .messageSendSuccess, .messageSendFailure: return
        default: break
        }
        let text = "\(event)"
        if text.contains(ChaosClient.fidgetTopic) { return }
        if state.latest.count >= Self.shown { state.latest.removeFirst() }
        state.latest.append("\(verdict.clock.time(.now)) \(text)")
    }
}
