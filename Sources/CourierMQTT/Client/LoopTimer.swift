import CourierTransport
import Synchronization

/// A timer of an event loop that any thread may start and cancel.
final class LoopTimer: Sendable {
    /// The progress of the timer.
    private enum State {
        case waiting(TimerToken?)
        case over
    }

    private let loop: EventLoop
    private let state = Mutex(State.waiting(nil))

    /// Starts a timer that calls `fire` on the loop after `delay`, unless it is cancelled first.
    init(on loop: EventLoop, after delay: Duration, fire: @escaping @Sendable () -> Void) {
        self.loop = loop
        let deadline = loop.clock.now.advanced(by: delay.bounded)
        loop.execute { [self] in
            guard case .waiting = state.withLock({ $0 }) else { return }
            let token = loop.schedule(at: deadline) { [weak self] in
                guard let self, self.end() != nil else { return }
                fire()
            }
            state.withLock { state in if case .waiting = state { state = .waiting(token) } }
        }
    }

    /// Ends the timer, and returns its token. The outer optional is `nil` if the timer has already ended. The inner
    /// optional is `nil` if the event loop has not scheduled the timer yet.
    private func end() -> TimerToken?? {
        state.withLock { state -> TimerToken?? in
            guard case .waiting(let token) = state else { return nil }
            state = .over
            return .some(token)
        }
    }

    /// Cancels the timer. Does nothing if the timer has already fired.
    func cancel() {
        guard let token = end(), let token else { return }
        loop.execute { [loop] in loop.cancel(token) }
    }
}
