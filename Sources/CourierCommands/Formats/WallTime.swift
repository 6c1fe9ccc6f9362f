import Glibc

/// A point in time of the system clock, formatted with `strftime` in the local time zone.
package struct WallTime: Hashable, Sendable {
    package var seconds: Int
    package var nanoseconds: Int

    package init(seconds: Int, nanoseconds: Int) {
        self.seconds = seconds
        self.nanoseconds = nanoseconds
    }

    /// Returns the current time.
    package static func now() -> WallTime {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return WallTime(seconds: time.tv_sec, nanoseconds: time.tv_nsec)
    }

    /// Formats the time with `strftime`. Returns an empty string if the system cannot convert the time.
    func text(_ format: String) -> String {
        var seconds = time_t(seconds)
        var parts = tm()
        guard localtime_r(&seconds, &parts) != nil else { return "" }
        var buffer = [CChar](repeating: 0, count: 128)
        let count = strftime(&buffer, buffer.count, format, &parts)
        return String(decoding: buffer.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Returns a number with leading zeros.
    static func padded(_ number: Int, to width: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, width - text.count)) + text
    }

    /// The time in ISO 8601 format with microseconds, as in `2026-11-21T11:30:00.000000+0000`.
    var timestamp: String {
        text("%Y-%m-%dT%H:%M:%S.") + Self.padded(nanoseconds / 1_000, to: 6) + text("%z")
    }
}
