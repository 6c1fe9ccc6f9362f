import CourierTransport
import Foundation
import Synchronization

/// Waits until one loop is idle.
///
/// First, it lets the loop run several rounds. In each round, the loop polls the descriptors and handles their events.
/// Then it schedules a timer that never fires. A loop with a timer asks its clock before each sleep. The clock thus
/// detects that the loop is idle, and receives the deadline of the loop's next real timer.
final class LoopSettling: Sendable {
    typealias Instant = ContinuousClock.Instant

    /// The number of rounds of the loop in one wait. Each round handles one step of an exchange between two sockets.
    private static let rounds = 64
    /// A deadline later than any timer of a test.
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

    /// Waits until `loop` sleeps or has ended, and returns the deadline of its next timer.
    static func wait(for loop: EventLoop, by clock: VirtualClock) async -> Instant? {
        await withCheckedContinuation { continuation in
            let settling = LoopSettling(loop, continuation, clock)
            let caller = loop.isOnLoop ? nil : ObjectIdentifier(Thread.current)
            loop.execute {
                // If the loop has ended, it runs submitted work on the caller's thread and never sleeps again. The wait
                // therefore ends here.
                if caller == ObjectIdentifier(Thread.current) { return settling.finish(nil) }
                settling.goAround(Self.rounds, clock)
            }
        }
    }

    var isOnLoop: Bool { loop.isOnLoop }

    /// Called on the loop when the loop is about to sleep until `deadline`. The call ends the wait.
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

    /// An object that a timer of the loop owns. When the loop ends, the object is released, and its `deinit` ends the
    /// wait.
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
