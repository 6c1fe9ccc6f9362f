import CourierTransport
import Dispatch
import Synchronization

/// The time of a walk. The clock also reports when the loop has no more work, so that a step needs only one change of
/// threads.
final class WalkClock: LoopClock {
    typealias Instant = ContinuousClock.Instant

    private struct State {
        var now: Instant
        var wakes: [@Sendable () -> Void] = []
        var isAwaited = false
        var wakeUpCount = 0
        var nextDeadline: Instant?
    }

    /// The time of a timer that never fires. A loop with a timer reads its clock before each sleep.
    private static let never = Duration.seconds(1_000 * 365 * 86_400)

    let start = Instant.now
    private let state: Mutex<State>
    private let idle = DispatchSemaphore(value: 0)

    init() { state = Mutex(State(now: start)) }

    var now: Instant { state.withLock { $0.now } }
    var elapsed: Duration { start.duration(to: now) }
    /// The time of the client's next timer, as the loop reported it before its sleep.
    var nextDeadline: Instant? { state.withLock { $0.nextDeadline } }

    /// Makes the loop read this clock before each sleep. Called once for each loop.
    func attend(_ loop: EventLoop) {
        let end = start + Self.never
        loop.execute { loop.schedule(at: end) {} }
    }

    /// Advances the time in one step.
    func advance(to instant: Instant) {
        let wakes = state.withLock { state in
            state.now = max(state.now, instant)
            return state.wakes
        }
        for wake in wakes { wake() }
    }

    /// Waits until the loop has no more work. Must not be called on the loop.
    ///
    /// - Returns: The number of times that other threads have woken the loop. A larger number later shows that the loop had
    ///   more work.
    @discardableResult
    func waitUntilIdle(_ loop: EventLoop) -> Int {
        loop.execute { [self] in
            let wakeUpCount = loop.wakeUpCount
            state.withLock { ($0.isAwaited, $0.wakeUpCount) = (true, wakeUpCount) }
        }
        idle.wait()
        return state.withLock { $0.wakeUpCount }
    }

    func sleepLimit(until deadline: Instant) -> Duration? {
        let (isDue, isAwaited) = state.withLock { state in
            if deadline <= state.now { return (true, false) }
            state.nextDeadline = deadline >= start + Self.never ? nil : deadline
            defer { state.isAwaited = false }
            return (false, state.isAwaited)
        }
        if isAwaited { idle.signal() }
        return isDue ? .zero : nil
    }

    func attach(wake: @escaping @Sendable () -> Void) { state.withLock { $0.wakes.append(wake) } }
}
