import Synchronization

extension EventLoop {
    /// For how long a loop has to have been without work from other threads before it is lent, 20 us: what comes faster is
    /// collected, which costs less for each.
    static let quietTime = Duration.microseconds(20)

    /// How long the loop's thread sleeps.
    struct Sleep {
        /// The timer that it wakes up for.
        let deadline: ContinuousClock.Instant?
        let limit: Duration?

        /// Whether a timer is due before the thread wakes up.
        func isTooLong(for timer: ContinuousClock.Instant?) -> Bool {
            guard let timer else { return false }
            return deadline.map { timer < $0 } ?? true
        }
    }

    /// Runs `body` on the calling thread, which counts as the loop's meanwhile, if the loop's thread sleeps and was given no
    /// work for ``quietTime``. So a lone message leaves without a thread being woken for it.
    ///
    /// From any thread that holds no lock which work on the loop may ask for. `body` is to be short, and to run no code but
    /// our own: who calls does not expect to be called.
    ///
    /// - Returns: What `body` returned, or `false` when it was not run.
    package func borrow(_ body: () -> Bool) -> Bool {
        guard isAsleep.load(ordering: .relaxed) else { return false }
        var mustWake = false
        let result = turn.withLockIfAvailable { _ -> Bool in
            // What was handed over comes before, and so does a timer that is due.
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
