extension Duration {
    /// Converts seconds from an app or a clock, limited to the range from 0 to a billion seconds, about 31 years.
    ///
    /// The limit prevents two overflows. `Duration.seconds(_:)` traps on too large numbers, and the sum of an instant
    /// and a very long duration overflows.
    static func bounded(seconds: Double) -> Duration {
        seconds > 0 ? .seconds(min(seconds, 1e9)) : .zero
    }

    /// This time, limited to the range from 0 to a billion seconds.
    var bounded: Duration { min(max(self, .zero), .seconds(1_000_000_000)) }
}
