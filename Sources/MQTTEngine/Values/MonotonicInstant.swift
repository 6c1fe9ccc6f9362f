/// A point in time inside the engine and the outgoing queue: nanoseconds from the start of the caller's clock, for 292 years.
///
/// `ContinuousClock.Instant` belongs to a library whose types may change their layout, so that every value that holds one is
/// copied by a call; a thousand messages hold thousands. This is the same in eight bytes that the compiler knows. What lies
/// beyond its range counts as its end.
@usableFromInline
package struct MonotonicInstant: BitwiseCopyable, Comparable, Hashable, Sendable {
    @usableFromInline let nanoseconds: Int64

    /// Later than any other point.
    @inlinable package static var never: MonotonicInstant { MonotonicInstant(nanoseconds: .max) }

    package init(_ instant: ContinuousClock.Instant) {
        nanoseconds = Self.nanoseconds(ContinuousClock().systemEpoch.duration(to: instant))
    }

    @usableFromInline init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    /// The same point as the caller measures it.
    package var instant: ContinuousClock.Instant {
        ContinuousClock().systemEpoch.advanced(by: .nanoseconds(nanoseconds))
    }

    package func advanced(by duration: Duration) -> MonotonicInstant {
        let change = Self.nanoseconds(duration)
        let (sum, isTooLong) = nanoseconds.addingReportingOverflow(change)
        return MonotonicInstant(nanoseconds: isTooLong ? (change < 0 ? .min : .max) : sum)
    }

    package func duration(to other: MonotonicInstant) -> Duration {
        .nanoseconds(other.nanoseconds) - .nanoseconds(nanoseconds)
    }

    @inlinable package static func < (one: MonotonicInstant, other: MonotonicInstant) -> Bool {
        one.nanoseconds < other.nanoseconds
    }

    @inlinable package static func <= (one: MonotonicInstant, other: MonotonicInstant) -> Bool {
        one.nanoseconds <= other.nanoseconds
    }

    @inlinable package static func == (one: MonotonicInstant, other: MonotonicInstant) -> Bool {
        one.nanoseconds == other.nanoseconds
    }

    private static func nanoseconds(_ duration: Duration) -> Int64 {
        let (seconds, attoseconds) = duration.components
        let (whole, isTooLong) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, isStillTooLong) = whole.addingReportingOverflow(attoseconds / 1_000_000_000)
        return isTooLong || isStillTooLong ? (seconds < 0 ? .min : .max) : sum
    }
}
