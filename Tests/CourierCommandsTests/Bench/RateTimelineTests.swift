import TestSupport
import Testing

@testable import CourierCommands

struct RateTimelineTests {
    @Test func `the rate timeline counts every message in a limited number of intervals`() {
        for seed in SeededGenerator.seeds {
            var chance = SeededGenerator(seed: seed)
            var timeline = RateTimeline()
            var time = Duration.zero
            for number in 1...5_000 {
                time += .milliseconds(chance.below(chance.chance(1, in: 100) ? 100_000 : 100))
                timeline.add(after: time)
                guard number % 500 == 0 else { continue }
                let points = timeline.points(until: time)
                #expect(points.count <= RateTimeline.limit && points.count > 1, "seed \(seed)")
                #expect(points.reduce(0) { $0 + $1.count } == number, "seed \(seed)")
                // The same checks if the run continues long after the last message.
                let end = time + .milliseconds(chance.below(1_000_000))
                let all = timeline.points(until: end)
                #expect(all.count <= RateTimeline.limit && all.reduce(0) { $0 + $1.count } == number, "seed \(seed)")
                #expect(abs((all.last?.end ?? 0) - end / .seconds(1)) < 1e-6, "seed \(seed)")
                #expect(zip(points, points.dropFirst()).allSatisfy { abs($0.end - $1.start) < 1e-6 }, "seed \(seed)")
            }
        }
    }

    @Test func `a very short last interval of a rate timeline is merged into the previous interval`() {
        var timeline = RateTimeline()
        for number in 0..<40 { timeline.add(after: .milliseconds(number * 5)) }  // 200 a second, for 200 ms
        let whole = timeline.points(until: .milliseconds(200))
        #expect(whole.map(\.count) == [10, 10, 10, 10])
        #expect(whole.allSatisfy { abs($0.rate - 200) < 0.001 })
        timeline.add(after: .milliseconds(201))
        // Two milliseconds with one message must not be reported as a rate of 500.
        let rest = timeline.points(until: .milliseconds(202))
        #expect(rest.map(\.count) == [10, 10, 10, 11] && rest.allSatisfy { $0.rate < 220 })
        #expect(abs((rest.last?.end ?? 0) - 0.202) < 0.000_001)
    }

    @Test func `the rate timeline ends with empty intervals if no messages arrive at the end`() {
        var timeline = RateTimeline()
        for number in 0..<40 { timeline.add(after: .milliseconds(number * 5)) }
        let points = timeline.points(until: .milliseconds(410))
        #expect(points.map(\.count) == [10, 10, 10, 10, 0, 0, 0, 0])
        #expect(abs((points.last?.end ?? 0) - 0.41) < 0.000_001)
    }

    @Test func `a rate timeline without messages is empty, and a duration of zero gives the rate 0`() {
        #expect(RateTimeline().points(until: .seconds(1)) == [])
        var timeline = RateTimeline()
        timeline.add(after: .zero)
        #expect(timeline.points(until: .zero).map(\.rate) == [0])
    }
}
