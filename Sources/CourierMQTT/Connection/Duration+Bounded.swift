extension Duration {
    /// Converts seconds from an app or a clock, limited to the range from 0 to a billion seconds, about 31 years.
    ///
    /// `Duration.seconds(_:)` traps on numbers that it cannot hold. A very long duration also overflows when it is
    /// added to an instant.
    static func bounded(seconds: Double) -> Duration {
        seconds > 0 ? .seconds(min(seconds, 1e9)) : .zero
    }

    /// This time, limited to the range from 0 to a billion seconds.
    var bounded: Duration { min(max(self, .zero), .seconds(1_000_000_000)) }
}
