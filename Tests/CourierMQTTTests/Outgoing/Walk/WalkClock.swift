import CourierTransport
import Dispatch
import Synchronization

/// The time of a walk. It also reports when the loop has nothing left to do, so that a step costs one change of threads.
final class WalkClock: LoopClock {
    typealias Instant = ContinuousClock.Instant

    private struct State {
        var now: Instant
        var wakes: [@Sendable () -> Void] = []
        var isAwaited = false
        var wakeUpCount = 0
        var nextDeadline: Instant?
    }

    /// A timer that is never due: a loop with a timer asks its clock before each sleep.
    private static let never = Duration.seconds(1_000 * 365 * 86_400)

    let start = Instant.now
    private let state: Mutex<State>
    private let idle = DispatchSemaphore(value: 0)

    init() { state = Mutex(State(now: start)) }

    var now: Instant { state.withLock { $0.now } }
    var elapsed: Duration { start.duration(to: now) }
    /// When the next timer of the client is due, as the loop said before it slept.
    var nextDeadline: Instant? { state.withLock { $0.nextDeadline } }

    /// Makes the loop ask this clock before it sleeps. Once for each loop.
    func attend(_ loop: EventLoop) {
        let end = start + Self.never
        loop.execute { loop.schedule(at: end) {} }
    }

    /// Lets time pass at once.
    func advance(to instant: Instant) {
        let wakes = state.withLock { state in
            state.now = max(state.now, instant)
            return state.wakes
        }
        for wake in wakes { wake() }
    }

    /// Waits until the loop has nothing left to do. Not from the loop.
    ///
    /// - Returns: How often other threads had woken the loop before. A larger number later means that it has had more to do.
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
