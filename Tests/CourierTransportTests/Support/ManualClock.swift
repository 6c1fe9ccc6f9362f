import Synchronization

@testable import CourierTransport

/// A clock that moves only when a test advances it.
final class ManualClock: LoopClock {
    private struct State {
        var now = ContinuousClock.now
        var wakes: [@Sendable () -> Void] = []
    }

    private let state = Mutex(State())

    var now: ContinuousClock.Instant { state.withLock { $0.now } }

    func sleepLimit(until deadline: ContinuousClock.Instant) -> Duration? { deadline <= now ? .zero : nil }

    func attach(wake: @escaping @Sendable () -> Void) { state.withLock { $0.wakes.append(wake) } }

    func advance(by duration: Duration) {
        let wakes = state.withLock { state in
            state.now += duration
            return state.wakes
        }
        for wake in wakes { wake() }
    }
}
