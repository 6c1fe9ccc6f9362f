import CLinux
import Glibc

/// Reads the clocks that a ``SuspendDetector`` compares.
enum SystemClocks {
    /// A thread that is stopped between two reads makes their difference wrong by as long, so they are read again.
    private static let attempts = 4
    /// How long reading may take to be believed at once.
    private static let goodSpread = Duration.milliseconds(10)

    /// Both clocks as of one moment; the reading that took the shortest time if none was quick.
    static func reading() -> SuspendDetector.Reading {
        var best = attempt()
        for _ in 1..<attempts where best.spread > goodSpread {
            let next = attempt()
            if next.spread < best.spread { best = next }
        }
        return best.reading
    }

    private static func attempt() -> (reading: SuspendDetector.Reading, spread: Duration) {
        let before = time(CLOCK_MONOTONIC)
        let boot = time(CLOCK_BOOTTIME)
        let spread = time(CLOCK_MONOTONIC) - before
        return (SuspendDetector.Reading(boot: boot, monotonic: before + spread / 2), spread)
    }

    private static func time(_ clock: Int32) -> Duration {
        var time = timespec()
        clock_gettime(clock, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
}
