/// Counts durations in buckets. The upper bound of each bucket is twice the bound of the previous bucket, from 100 µs
/// to 13.1 s. The last bucket has no upper bound.
public struct DurationHistogram: Sendable {
    /// The upper bounds of all buckets except the last one, in ascending order.
    public static let upperBounds: [Duration] = (0..<boundCount).map { .nanoseconds(firstBound << $0) }

    private static var boundCount: Int { 18 }
    private static var firstBound: Int64 { 100_000 }

    /// 19 buckets.
    private var buckets = FixedArray<UInt64, (Eight<UInt64>, Eight<UInt64>, UInt64, UInt64, UInt64)>(repeating: 0)
    private var nanoseconds: UInt128 = 0

    /// Makes an empty histogram.
    public init() {}

    /// The number of durations in each bucket. A bucket counts the durations above the previous bound, up to its own
    /// bound. The last bucket counts the durations above the last element of ``upperBounds``.
    public var counts: [UInt64] { buckets.indices.map { buckets[$0] } }

    /// The number of durations.
    public var count: UInt64 { counts.reduce(0, +) }

    /// The sum of all durations.
    public var sum: Duration {
        let (seconds, rest) = nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        return .seconds(Int64(clamping: seconds)) + .nanoseconds(Int64(rest))
    }

    /// Returns an upper limit of a quantile. A quantile is the duration that the given part of all durations does not
    /// exceed; for the part 0.5, it is the median.
    ///
    /// - Parameter fraction: The part of the durations, from 0 to 1; 0.5 for the median.
    /// - Returns: The upper bound of the bucket that contains the quantile; the last element of ``upperBounds`` if the
    ///   quantile is longer. `nil` if the histogram is empty.
    public func quantile(_ fraction: Double) -> Duration? {
        let total = count
        guard total > 0 else { return nil }
        let rank = max(1, (Double(total) * min(max(fraction, 0), 1)).rounded(.up))
        var sum: UInt64 = 0
        for (bound, count) in zip(Self.upperBounds, counts) {
            sum += count
            if Double(sum) >= rank { return bound }
        }
        return Self.upperBounds.last
    }

    /// Counts a duration. A negative duration counts as 0.
    @inline(__always)
    package mutating func add(nanoseconds duration: Int64) {
        let duration = max(duration, 0)
        let multiple = UInt64(bitPattern: max(duration &- 1, 0)) / UInt64(Self.firstBound)
        buckets[min(64 - multiple.leadingZeroBitCount, Self.boundCount)] &+= 1
        nanoseconds &+= UInt128(UInt64(bitPattern: duration))
    }
}
