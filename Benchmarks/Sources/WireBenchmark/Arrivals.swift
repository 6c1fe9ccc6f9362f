import Synchronization

/// Measures the time from the first to the last message. All messages must be reported on one serial queue.
final class Arrivals: Sendable {
    private struct State {
        var left: Int
        var start: ContinuousClock.Instant?
        var time: Duration?
        var waiter: CheckedContinuation<Duration, Never>?
    }

    private let state: Mutex<State>

    /// Expects this number of messages.
    init(_ count: Int) { state = Mutex(State(left: count)) }

    /// Reports that one message has arrived.
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

    /// The time from the first to the last message. Waits until all messages have arrived.
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
