import Foundation

/// Formats times relative to the start of a run.
package struct RunClock: Sendable {
    private let start = ContinuousClock.now

    /// Creates a clock whose run starts now.
    package init() {}

    /// Returns the seconds since the start, as text.
    package func time(_ instant: ContinuousClock.Instant) -> String {
        String(format: "%.3f s", (instant - start) / .seconds(1))
    }
}
