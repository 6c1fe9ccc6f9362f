import Synchronization

/// Takes the time from the first message to the last. Messages are noted on one queue, one after the other.
final class Arrivals: Sendable {
    private struct State {
        var left: Int
        var start: ContinuousClock.Instant?
        var time: Duration?
        var waiter: CheckedContinuation<Duration, Never>?
    }

    private let state: Mutex<State>

    /// Expects so many.
    init(_ count: Int) { state = Mutex(State(left: count)) }

    /// One has arrived.
    func note() {
        let over: (waiter: CheckedContinuation<Duration, Never>, time: Duration)? = state.withLock { state in
            state.left -= 1
            let start = state.start ?? .now
            state.start = start
            guard state.left == 0 else { return nil }
            let time = start.duration(to: .now)
            state.time = time
            return state.waiter.map { ($0, time) }
        }
        over?.waiter.resume(returning: over?.time ?? .zero)
    }

    /// How long they took, when all have arrived.
    var time: Duration {
        get async {
            await withCheckedContinuation { waiter in
                let time = state.withLock { state in
                    if state.time == nil { state.waiter = waiter }
                    return state.time
                }
                if let time { waiter.resume(returning: time) }
            }
        }
    }
}
