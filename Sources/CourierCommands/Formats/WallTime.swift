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
        let time = SystemClock.sinceEpoch
        return WallTime(seconds: time.seconds, nanoseconds: time.nanoseconds)
    }

    /// Formats the time with `strftime`. Returns an empty string if the system cannot convert the time.
    func text(_ format: String) -> String { SystemClock.localText(seconds: seconds, format: format) }

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
