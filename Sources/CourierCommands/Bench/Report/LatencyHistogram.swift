/// Counts latencies in buckets. The width of a bucket is at most one eighth of its lower limit, except below 8 ns. The
/// 320 buckets cover latencies up to more than an hour.
struct LatencyHistogram: Hashable, Sendable {
    /// The number of buckets for each doubling of the latency, such as from 1 ms to 2 ms.
    private static let perDoubling = 8
    private static let count = 40 * perDoubling

    private var buckets = [Int](repeating: 0, count: Self.count)
    private(set) var total = 0
    private(set) var least = UInt64.max
    private(set) var most: UInt64 = 0

    /// Adds a latency in nanoseconds.
    mutating func add(_ nanoseconds: UInt64) {
        buckets[Self.bucket(nanoseconds)] += 1
        total += 1
        least = min(least, nanoseconds)
        most = max(most, nanoseconds)
    }

    /// Returns the latency in nanoseconds that the fraction `share` of all messages does not exceed. The returned
    /// latency is rounded up by at most one eighth, and never exceeds the longest latency.
    func percentile(_ share: Double) -> UInt64 {
        let wanted = max(1, Int((Double(total) * share).rounded(.up)))
        var seen = 0
        for (index, count) in buckets.enumerated() {
            seen += count
            if seen >= wanted { return min(most, Self.end(of: index)) }
        }
        return most
    }

    /// One bar of the chart.
    struct Bar: Hashable, Sendable {
        /// The exclusive upper limit of the bar in nanoseconds. The lower limit is the upper limit of the previous bar.
        let end: UInt64
        let count: Int
    }

    /// One bar for each doubling of the latency, from the first to the last bar that is not empty.
    var bars: [Bar] { bars(joining: Self.perDoubling) }

    /// Returns the finest chart with at most `limit` bars. It has eight, four or two bars for each doubling of the
    /// latency. If none of these charts fits, returns one bar for each doubling, even if there are more than `limit`.
    func bars(atMost limit: Int) -> [Bar] {
        let fine = [1, 2, 4].lazy.map { bars(joining: $0) }.first { $0.count <= limit }
        return fine ?? bars
    }

    private func bars(joining width: Int) -> [Bar] {
        let all = stride(from: 0, to: Self.count, by: width).map { start in
            Bar(end: Self.end(of: start + width - 1), count: buckets[start..<start + width].reduce(0, +))
        }
        guard let first = all.firstIndex(where: { $0.count > 0 }), let last = all.lastIndex(where: { $0.count > 0 })
        else { return [] }
        return Array(all[first...last])
    }

    // Each number below 8 has its own bucket. For larger numbers, each doubling has eight buckets. The three bits after
    // the highest bit select the bucket.
    private static func bucket(_ number: UInt64) -> Int {
        guard number >= 8 else { return Int(number) }
        let exponent = 63 - number.leadingZeroBitCount
        let index = (exponent - 2) * perDoubling + Int(number >> UInt64(exponent - 3) & 7)
        return min(index, count - 1)
    }

    /// The exclusive upper limit of a bucket.
    private static func end(of index: Int) -> UInt64 {
        guard index >= perDoubling else { return UInt64(index) + 1 }
        let exponent = UInt64(index / perDoubling + 2)
        return (UInt64(index % perDoubling) + 9) << (exponent - 3)
    }
}
