extension Duration {
    /// Seconds from the app or from a clock: never negative, never more than thirty years, whatever the number is.
    ///
    /// `Duration.seconds(_:)` traps on what it cannot hold, and an instant that is too far away overflows.
    static func bounded(seconds: Double) -> Duration {
        seconds > 0 ? .seconds(min(seconds, 1e9)) : .zero
    }

    /// The same within these bounds.
    var bounded: Duration { min(max(self, .zero), .seconds(1_000_000_000)) }
}
