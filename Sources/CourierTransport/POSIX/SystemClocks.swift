#if canImport(Glibc)
    import CLinux
    import Glibc
#elseif canImport(Musl)
    import CLinux
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// Reads the clocks that a ``SuspendDetector`` compares.
enum SystemClocks {
    #if canImport(Darwin)
        /// The clock that continues while the machine is suspended, and the clock that stops.
        private static let (boot, monotonic) = (CLOCK_MONOTONIC_RAW, CLOCK_UPTIME_RAW)
    #else
        /// The clock that continues while the machine is suspended, and the clock that stops.
        private static let (boot, monotonic) = (CLOCK_BOOTTIME, CLOCK_MONOTONIC)
    #endif

    /// The maximum number of attempts to read both clocks. If the thread is paused between the two reads, the
    /// difference of the clocks is wrong, so another attempt follows.
    private static let attempts = 4
    /// If an attempt to read both clocks takes at most this time, its values are exact enough, and no further attempt
    /// follows.
    private static let goodSpread = Duration.milliseconds(10)

    /// Returns the values of both clocks at the same moment. If every attempt took too long, returns the values of the
    /// shortest attempt.
    static func reading() -> SuspendDetector.Reading {
        var best = attempt()
        for _ in 1..<attempts where best.spread > goodSpread {
            let next = attempt()
            if next.spread < best.spread { best = next }
        }
        return best.reading
    }

    private static func attempt() -> (reading: SuspendDetector.Reading, spread: Duration) {
        let before = time(monotonic)
        let bootTime = time(boot)
        let spread = time(monotonic) - before
        return (SuspendDetector.Reading(boot: bootTime, monotonic: before + spread / 2), spread)
    }

    private static func time(_ clock: clockid_t) -> Duration {
        var time = timespec()
        clock_gettime(clock, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
}
