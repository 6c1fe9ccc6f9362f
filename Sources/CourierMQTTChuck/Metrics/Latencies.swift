import CourierCore

/// A latency histogram with fixed buckets for each kind of exchange.
struct Latencies {
    /// The upper bounds of the buckets in nanoseconds. One more bucket counts all longer durations.
    static let bounds: [Int64] = [
        100_000, 250_000, 500_000, 1_000_000, 2_500_000, 5_000_000, 10_000_000, 25_000_000, 50_000_000, 100_000_000,
        250_000_000, 500_000_000, 1_000_000_000, 2_500_000_000, 5_000_000_000, 10_000_000_000,
    ]

    private static let width = 17

    private let bounds = Latencies.bounds
    /// For each of the eight kinds of exchange, the counts of its 17 buckets: one for each of the 16 bounds, and one
    /// for longer durations.
    private var counts = FixedArray<UInt64, Eight<(Eight<UInt64>, Eight<UInt64>, UInt64)>>(repeating: 0)
    private var sums = FixedArray<Int64, Eight<Int64>>(repeating: 0)

    /// Counts `times` exchanges that each took `nanoseconds`.
    mutating func count(_ kind: MQTTChuckExchangeKind, _ nanoseconds: Int64, times: Int = 1) {
        let bucket = bounds.firstIndex { nanoseconds <= $0 } ?? bounds.count
        counts[kind.index &* Self.width &+ bucket] &+= UInt64(truncatingIfNeeded: times)
        sums[kind.index] &+= nanoseconds &* Int64(truncatingIfNeeded: times)
    }

    func counts(_ kind: MQTTChuckExchangeKind) -> [UInt64] {
        (0..<Self.width).map { counts[kind.index * Self.width + $0] }
    }

    func sum(_ kind: MQTTChuckExchangeKind) -> Int64 { sums[kind.index] }
}
