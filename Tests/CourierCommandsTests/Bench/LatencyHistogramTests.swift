import TestSupport
import Testing

@testable import CourierCommands

struct LatencyHistogramTests {
    @Test func `a percentile of the latency histogram is at most one eighth above the exact value`() {
        for exponent in 0..<40 {
            var histogram = LatencyHistogram()
            let unit = UInt64(1) << UInt64(exponent)
            for number in 1...100 { histogram.add(UInt64(number) * unit / 100 + 1) }
            for share in [0.01, 0.5, 0.9, 0.99, 1] {
                let exact = UInt64((share * 100).rounded(.up)) * unit / 100 + 1
                let found = histogram.percentile(share)
                #expect(found >= exact && found <= exact + max(1, exact / 8), "\(exponent) \(share)")
            }
            #expect(histogram.percentile(1) == histogram.most)
        }
    }

    @Test func `the histogram's bars count every value, from the lowest to the highest value`() {
        var histogram = LatencyHistogram()
        #expect(histogram.bars.isEmpty)
        for time in [100, 120, 1_000, 9_000, UInt64.max] as [UInt64] { histogram.add(time) }
        #expect(histogram.bars.reduce(0) { $0 + $1.count } == 5)
        #expect(histogram.bars.first == LatencyHistogram.Bar(end: 128, count: 2))
        #expect(histogram.bars.last?.count == 1)
        #expect(zip(histogram.bars, histogram.bars.dropFirst()).allSatisfy { $0.end * 2 == $1.end })
    }

    @Test func `with a larger limit of bars, the histogram has more bars with the same total count`() {
        var histogram = LatencyHistogram()
        for time in stride(from: UInt64(1_000), to: 100_000, by: 7) { histogram.add(time) }
        var counts: [Int] = []
        for limit in [1_000, 56, 55, 28, 27, 14, 13, 7, 1] {
            let bars = histogram.bars(atMost: limit)
            #expect(bars.reduce(0) { $0 + $1.count } == histogram.total)
            #expect(zip(bars, bars.dropFirst()).allSatisfy { $0.end < $1.end })
            counts.append(bars.count)
        }
        #expect(counts == counts.sorted(by: >) && counts.first ?? 0 > 50 && counts.last == histogram.bars.count)
    }
}
