extension Duration {
    /// Converts seconds from an app or a clock: at least 0, and at most thirty years.
    ///
    /// `Duration.seconds(_:)` traps on numbers that it cannot hold, and a distant instant overflows.
    static func bounded(seconds: Double) -> Duration {
        seconds > 0 ? .seconds(min(seconds, 1e9)) : .zero
    }

    /// The same within these bounds.
    var bounded: Duration { min(max(self, .zero), .seconds(1_000_000_000)) }
}
