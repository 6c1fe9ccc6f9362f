/// Detects from two clocks whether the machine was suspended. One clock counts suspended time; the other clock does
/// not.
struct SuspendDetector: Sendable {
    /// The values of both clocks at one moment. Each clock may have any starting point.
    struct Reading: Hashable, Sendable {
        /// The value of the clock that continues while the machine is suspended.
        var boot: Duration
        /// The value of the clock that stops while the machine is suspended.
        var monotonic: Duration

        /// The difference of the clocks. It grows by the length of every suspend.
        fileprivate var gap: Duration { boot - monotonic }
    }

    private var last: Reading
    private let shortestSleep: Duration

    /// Starts with a first reading. Suspends shorter than `shortestSleep` are ignored.
    init(first: Reading, shortestSleep: Duration) {
        last = first
        self.shortestSleep = shortestSleep
    }

    /// Returns how long the machine was suspended since the last reading. Returns `nil` if it was not suspended, or for
    /// less time than the minimum.
    mutating func read(_ reading: Reading) -> Duration? {
        let slept = reading.gap - last.gap
        last = reading
        return slept >= shortestSleep ? slept : nil
    }
}
