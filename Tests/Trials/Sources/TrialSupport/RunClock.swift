import Foundation

/// Tells the time of a run.
package struct RunClock: Sendable {
    private let start = ContinuousClock.now

    /// A run that starts now.
    package init() {}

    /// Seconds since the start, for people.
    package func time(_ instant: ContinuousClock.Instant) -> String {
        String(format: "%.3f s", (instant - start) / .seconds(1))
    }
}
