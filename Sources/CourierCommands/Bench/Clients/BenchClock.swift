/// The clock of a bench run. The payloads of messages contain its time.
enum BenchClock {
    /// The monotonic time in nanoseconds. It is the same in all processes of a machine.
    static var now: UInt64 { SystemClock.monotonicNanoseconds }

    /// Returns the time that has passed since an earlier time of this clock.
    static func elapsed(since start: UInt64) -> Duration { .nanoseconds(Int64(now - start)) }
}
