import Glibc

/// What a piece of work takes of the processor, which other work on the machine does not change.
enum ThreadTime {
    static func spent(_ work: () -> Void) -> Duration {
        let start = now
        work()
        return now - start
    }

    private static var now: Duration {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
}
