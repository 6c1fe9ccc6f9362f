/// Tells from two clocks whether the machine slept: one counts the time of a suspend, the other does not.
struct SuspendDetector: Sendable {
    /// What both clocks said at one moment, from whichever beginning.
    struct Reading: Hashable, Sendable {
        /// By the clock that continues while the machine is suspended.
        var boot: Duration
        /// By the clock that stands still meanwhile.
        var monotonic: Duration

        /// Grows by the length of every suspend.
        fileprivate var gap: Duration { boot - monotonic }
    }

    private var last: Reading
    private let shortestSleep: Duration

    /// Begins with a first reading; sleeps shorter than `shortestSleep` count as none.
    init(first: Reading, shortestSleep: Duration) {
        last = first
        self.shortestSleep = shortestSleep
    }

    /// How long the machine slept since the last reading, or `nil` if it did not, or not long enough.
    mutating func read(_ reading: Reading) -> Duration? {
        let slept = reading.gap - last.gap
        last = reading
        return slept >= shortestSleep ? slept : nil
    }
}
