/// A histogram with fixed buckets for each kind of exchange.
struct Latencies {
    /// The upper bounds of the buckets in nanoseconds; one more bucket takes what is above.
    static let bounds: [Int64] = [
        100_000, 250_000, 500_000, 1_000_000, 2_500_000, 5_000_000, 10_000_000, 25_000_000, 50_000_000, 100_000_000,
        250_000_000, 500_000_000, 1_000_000_000, 2_500_000_000, 5_000_000_000, 10_000_000_000,
    ]

    private static let width = 17

    private let bounds = Latencies.bounds
    private var counts = InlineArray<136, UInt64>(repeating: 0)
    private var sums = InlineArray<8, Int64>(repeating: 0)

    /// The last duration with its bucket: exchanges of one read and one write all took equally long.
    private var latest = (nanoseconds: Int64.min, bucket: 0)

    @inline(__always)
    mutating func count(_ kind: MQTTChuckExchangeKind, _ nanoseconds: Int64) {
        if nanoseconds != latest.nanoseconds {
            var bucket = 0
            while bucket < bounds.count, nanoseconds > bounds[bucket] { bucket &+= 1 }
            latest = (nanoseconds, bucket)
        }
        let bucket = latest.bucket
        counts[kind.index &* Self.width &+ bucket] &+= 1
        sums[kind.index] &+= nanoseconds
    }

    func counts(_ kind: MQTTChuckExchangeKind) -> [UInt64] {
        (0..<Self.width).map { counts[kind.index * Self.width + $0] }
    }

    func sum(_ kind: MQTTChuckExchangeKind) -> Int64 { sums[kind.index] }
}
