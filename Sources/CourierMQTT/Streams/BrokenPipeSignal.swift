import Foundation

/// Keeps SIGPIPE from ending the process when the calling thread writes to a pipe without a reader.
enum BrokenPipeSignal {
    /// Blocks the signal until the calling thread ends. A write to a closed pipe then returns an error.
    static func block() {
        var signals = signals
        pthread_sigmask(SIG_BLOCK, &signals, nil)
    }

    /// Blocks the signal while `body` runs, and restores the thread's signal mask.
    static func block(while body: () -> Void) {
        var signals = signals
        var earlier = sigset_t()
        pthread_sigmask(SIG_BLOCK, &signals, &earlier)
        body()
        // If SIGPIPE was not blocked before, discard the signal that a failed write has left pending. Otherwise, the
        // signal would be delivered after the mask is restored.
        if sigismember(&earlier, SIGPIPE) == 0 { discardPending(&signals) }
        pthread_sigmask(SIG_SETMASK, &earlier, nil)
    }

    /// Discards the pending `signals`, which must be blocked in the calling thread.
    private static func discardPending(_ signals: inout sigset_t) {
        #if os(Linux)
            var noTime = timespec(tv_sec: 0, tv_nsec: 0)
            while sigtimedwait(&signals, nil, &noTime) == SIGPIPE {}
        #else
            // Apple's systems have no `sigtimedwait`. Call `sigwait` only if SIGPIPE is pending, because `sigwait`
            // would otherwise block the thread.
            var pending = sigset_t()
            var number: Int32 = 0
            if sigpending(&pending) == 0, sigismember(&pending, SIGPIPE) == 1 { sigwait(&signals, &number) }
        #endif
    }

    private static var signals: sigset_t {
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGPIPE)
        return signals
    }
}
