import TestSupport
import Testing

@testable import CourierCommands

struct AxisScaleTests {
    @Test func `the chart axis includes the largest value and has two to six marks`() {
        for seed in SeededGenerator.seeds {
            var chance = SeededGenerator(seed: seed)
            for _ in 0..<2_000 {
                let largest = Double(chance.below(1_000_000_000) + 1) / [1.0, 1e3, 1e9][chance.below(3)]
                let scale = AxisScale(upTo: largest)
                #expect(scale.end >= largest * 0.999_99 && scale.end <= largest * 2.000_1, "seed \(seed): \(largest)")
                #expect((2...6).contains(scale.marks.count), "seed \(seed): \(largest) \(scale.marks)")
                #expect(scale.marks.first == 0 && scale.marks.last == scale.end)
            }
        }
    }

    @Test(arguments: [
        (10.0, [0, 2, 4, 6, 8, 10]), (7, [0, 2, 4, 6, 8]), (1, [0, 0.2, 0.4, 0.6, 0.8, 1]),
        (0, [0, 0.2, 0.4, 0.6, 0.8, 1]),
        (30_000, [0, 10_000, 20_000, 30_000]), (.infinity, [0, 0.2, 0.4, 0.6, 0.8, 1]),
    ])
    func `the marks of the chart axis are round numbers`(largest: Double, marks: [Double]) {
        let found = AxisScale(upTo: largest).marks
        #expect(found.count == marks.count && zip(found, marks).allSatisfy { abs($0 - $1) < 1e-9 }, "\(found)")
    }
}
