import Synchronization
import TrialSupport

/// The awaits that have not ended, to find an await that hangs.
final class OpenAwaits: Sendable {
    private struct State {
        var next = 0
        var open: [Int: (what: String, since: ContinuousClock.Instant)] = [:]
    }

    private let state = Mutex(State())

    /// Runs `body`, and tracks it as an await that must end.
    func track<Result>(_ what: String, _ body: () async throws -> Result) async rethrows -> Result {
        let id = state.withLock { state in
            state.next += 1
            state.open[state.next] = (what, .now)
            return state.next
        }
        defer { state.withLock { $0.open[id] = nil } }
        return try await body()
    }

    var count: Int { state.withLock { $0.open.count } }

    /// Reports the awaits that have not ended, with their start times.
    func judge(_ verdict: Verdict) {
        for open in state.withLock({ Array($0.open.values) }) {
            verdict.violation("\(open.what) waits since \(verdict.clock.time(open.since))")
        }
    }
}
