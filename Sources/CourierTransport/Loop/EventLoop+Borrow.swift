import Synchronization

extension EventLoop {
    /// The time without work from other threads after which the loop may be borrowed: 20 µs. If work arrives more
    /// often, the loop's thread handles it in batches, which costs less for each item.
    static let quietTime = Duration.microseconds(20)

    /// The planned end of the loop thread's sleep.
    struct Sleep {
        /// The deadline of the timer that ends the sleep; `nil` without timers.
        let deadline: ContinuousClock.Instant?
        let limit: Duration?

        /// True if `timer` is due before the planned end of the sleep.
        func isTooLong(for timer: ContinuousClock.Instant?) -> Bool {
            guard let timer else { return false }
            return deadline.map { timer < $0 } ?? true
        }
    }

    /// Runs `body` on the calling thread, if the loop's thread sleeps and received no work for ``quietTime``. So a
    /// single message is sent without waking a thread.
    ///
    /// While `body` runs, the calling thread counts as the loop's thread. The caller may be on any thread, but must not
    /// hold a lock that work on the loop may need. `body` must be short and must not call the app's code, because the
    /// caller does not expect callbacks.
    ///
    /// - Returns: The result of `body`, or `false` if it was not run.
    package func borrow(_ body: () -> Bool) -> Bool {
        guard isAsleep.load(ordering: .relaxed) else { return false }
        var mustWake = false
        let result = turn.withLockIfAvailable { _ -> Bool in
            // If jobs from other threads wait or a timer is due, they must run before `body`. In this case, the loop's
            // thread runs them, and `body` is not run here.
            guard let sleep, !inbox.withLock({ $0.isAwake }) else { return false }
            let now = clock.now
            guard now - lastWork >= Self.quietTime, timers.nextDeadline.map({ now < $0 }) ?? true else { return false }
            self.sleep = nil
            isAsleep.store(false, ordering: .relaxed)
            threadID.store(LoopThread.current, ordering: .relaxed)
            currentTime = now
            let result = body()
            lastWork = clock.now
            threadID.store(0, ordering: .relaxed)
            isAsleep.store(true, ordering: .relaxed)
            self.sleep = sleep
            mustWake = !later.isEmpty || !soon.isEmpty || sleep.isTooLong(for: timers.nextDeadline)
            return result
        }
        if mustWake { wake() }
        return result ?? false
    }
}
