import CourierTransport
import Dispatch
import Synchronization

/// Blocks the thread of a command until one of its connections has an event, a deadline passes, or a signal arrives.
///
/// Only one thread may wait at a time.
final class LinkEvents: Sendable {
    /// The event loop of the connections.
    let loop: EventLoop
    private let event = DispatchSemaphore(value: 0)
    private let isInterrupted = Atomic(false)
    /// True while the waiting thread ignores interruptions.
    private let isShielded = Atomic(false)
    /// The last deadline for which a timer was set.
    private let timedDeadline = Mutex<ContinuousClock.Instant?>(nil)

    init(on loop: EventLoop) { self.loop = loop }

    /// The present time of the event loop's clock.
    var now: ContinuousClock.Instant { loop.clock.now }

    /// Makes the waiting thread check its condition again. May be called from any thread.
    func notify() { event.signal() }

    /// Ends the present wait and all later waits with ``LinkFailure/interrupted``. May be called from any thread.
    func interrupt() {
        isInterrupted.store(true, ordering: .relaxed)
        notify()
    }

    /// Runs `body`. Waits inside `body` ignore ``interrupt()``, so that a command can clean up after a signal.
    func shielded(_ body: () -> Void) {
        isShielded.store(true, ordering: .relaxed)
        body()
        isShielded.store(false, ordering: .relaxed)
    }

    private var hasInterruption: Bool {
        isInterrupted.load(ordering: .relaxed) && !isShielded.load(ordering: .relaxed)
    }

    /// Blocks until `result` returns a value or throws.
    ///
    /// - Throws: The error of `result`; ``LinkFailure/silent`` at the deadline; ``LinkFailure/interrupted`` after
    ///   ``interrupt()``.
    func wait<Result>(
        until deadline: ContinuousClock.Instant, _ result: () throws(LinkFailure) -> Result?
    ) throws(LinkFailure) -> Result {
        while true {
            // This check is first, so that a signal ends the wait even if the broker never stops sending.
            if hasInterruption { throw .interrupted }
            if let result = try result() { return result }
            guard now < deadline else { throw .silent }
            setTimer(deadline)
            event.wait()
        }
    }

    /// Blocks until the deadline.
    ///
    /// - Throws: ``LinkFailure/interrupted`` after ``interrupt()``.
    func pause(until deadline: ContinuousClock.Instant) throws(LinkFailure) {
        try wait(until: .now + .seconds(86_400)) { () throws(LinkFailure) -> Void? in
            setTimer(deadline)
            return now >= deadline ? () : nil
        }
    }

    /// Sets a timer that notifies at the deadline. The timer is not cancelled later, because a useless notification is
    /// harmless.
    private func setTimer(_ deadline: ContinuousClock.Instant) {
        let isNew = timedDeadline.withLock { last in
            defer { last = deadline }
            return last != deadline
        }
        guard isNew else { return }
        loop.execute { [self] in loop.schedule(at: deadline) { [weak self] in self?.notify() } }
    }
}
