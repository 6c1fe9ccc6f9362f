/// A time inside the engine and the outgoing queue: nanoseconds since the start of the caller's clock, for up to 292
/// years.
///
/// The caller passes times to the engine as `ContinuousClock.Instant`. That type belongs to a library that may change
/// the layout of its types. So copying a value that contains a `ContinuousClock.Instant` needs a function call. These
/// calls are slow for thousands of messages. `MonotonicInstant` has eight bytes and a layout that the compiler knows. A
/// time outside its range becomes the nearest time in the range.
@usableFromInline
package struct MonotonicInstant: BitwiseCopyable, Comparable, Hashable, Sendable {
    @usableFromInline package let nanoseconds: Int64

    /// The latest possible time, used for "never".
    @inlinable package static var never: MonotonicInstant { MonotonicInstant(nanoseconds: .max) }

    package init(_ instant: ClientEngine.Instant) { nanoseconds = Self.nanoseconds(instant.sinceStart) }

    /// Makes a time from the number of nanoseconds since the start of the caller's clock.
    @inlinable package init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    /// The same time on the caller's clock.
    package var instant: ClientEngine.Instant { ClientEngine.Instant(sinceStart: .nanoseconds(nanoseconds)) }

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
