import Glibc

/// The clock of a bench run. The payloads of messages contain its time.
enum BenchClock {
    /// The monotonic time in nanoseconds. It is the same in all processes of a machine.
    static var now: UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }

    /// Returns the time that has passed since an earlier time of this clock.
    static func elapsed(since start: UInt64) -> Duration { .nanoseconds(Int64(now - start)) }
}
