import CourierTransport
import Foundation
import Synchronization

/// Waits until one loop has nothing left to do.
///
/// First it goes around with the loop some times, each time polling its descriptors and running what they brought. Then it
/// schedules a timer that is never due: a loop with a timer asks its clock before each sleep, and by that the clock knows
/// that the loop is idle, and when its next real timer is due.
final class LoopSettling: Sendable {
    typealias Instant = ContinuousClock.Instant

    /// How often the loop goes around. Each round carries a conversation over sockets one step further.
    private static let rounds = 64
    /// Further away than any timer of a test.
    private static let never = Duration.seconds(1_000 * 365 * 86_400)

    private let loop: EventLoop
    private let neverComes: Instant
    private let continuation: Mutex<CheckedContinuation<Instant?, Never>?>
    private let timer = Mutex<TimerToken?>(nil)

    private init(_ loop: EventLoop, _ continuation: CheckedContinuation<Instant?, Never>, _ clock: VirtualClock) {
        self.loop = loop
        self.continuation = Mutex(continuation)
        neverComes = clock.start + Self.never
    }

    /// Returns when `loop` sleeps or has ended; the deadline of its next timer.
    static func wait(for loop: EventLoop, by clock: VirtualClock) async -> Instant? {
        await withCheckedContinuation { continuation in
            let settling = LoopSettling(loop, continuation, clock)
            let caller = loop.isOnLoop ? nil : ObjectIdentifier(Thread.current)
            loop.execute {
                // A loop that has ended runs its work on the caller's thread and never sleeps again.
                if caller == ObjectIdentifier(Thread.current) { return settling.finish(nil) }
                settling.goAround(Self.rounds, clock)
            }
        }
    }

    var isOnLoop: Bool { loop.isOnLoop }

    /// The loop has nothing to do until `deadline`. On the loop.
    func loopSleeps(until deadline: Instant) {
        finish(deadline >= neverComes ? nil : deadline)
        if let timer = timer.withLock({ $0 }) { loop.cancel(timer) }
    }

    private func goAround(_ rounds: Int, _ clock: VirtualClock) {
        guard rounds > 0 else { return arm(clock) }
        loop.execute { self.goAround(rounds - 1, clock) }
    }

    private func arm(_ clock: VirtualClock) {
        let end = EndOfLoop(self, clock)
        let token = loop.schedule(at: neverComes) { withExtendedLifetime(end) {} }
        timer.withLock { $0 = token }
        clock.watch(self)
    }

    private func finish(_ deadline: Instant?) {
        let waiting = continuation.withLock { continuation in
            defer { continuation = nil }
            return continuation
        }
        waiting?.resume(returning: deadline)
    }

    /// Goes away with the loop's timers, so that nobody waits for a loop that has ended.
    private final class EndOfLoop {
        private let settling: LoopSettling
        private let clock: VirtualClock

        init(_ settling: LoopSettling, _ clock: VirtualClock) {
            self.settling = settling
            self.clock = clock
        }

        deinit {
            clock.forget(settling)
            settling.finish(nil)
        }
    }
}
