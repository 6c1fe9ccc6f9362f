import Testing

@testable import CourierMQTT

@Suite struct ReconnectScheduleTests {
    private func pauses(_ jitter: ReconnectJitter, seed: UInt64, count: Int = 8) -> [Duration] {
        var schedule = ReconnectSchedule(interval: .seconds(1), maximum: .seconds(30), jitter: jitter)
        var random = JitterSource(seed: seed)
        return (0..<count).map { _ in schedule.next(using: &random) }
    }

    private let exact = [1, 2, 4, 8, 16, 30, 30, 30].map { Duration.seconds($0) }

    @Test func `without jitter, the pauses double exactly up to the maximum`() {
        #expect(pauses(.none, seed: 1) == exact)
    }

    @Test func `pauses are 50 % to 100 % of their length with equal jitter, 0 % to 100 % with full jitter`() {
        var equal: [Double] = []
        var full: [Double] = []
        for seed in UInt64(1)...500 {
            for (pause, whole) in zip(pauses(.equal, seed: seed), exact) {
                #expect(pause >= whole / 2 && pause <= whole, "seed \(seed)")
                equal.append(pause / whole)
            }
            for (pause, whole) in zip(pauses(.full, seed: seed), exact) {
                #expect(pause >= .zero && pause <= whole, "seed \(seed)")
                full.append(pause / whole)
            }
        }
        // The pauses cover the whole range.
        #expect(equal.contains { $0 < 0.51 } && equal.contains { $0 > 0.99 })
        #expect(full.contains { $0 < 0.01 } && full.contains { $0 > 0.99 })
    }

    @Test func `equal seeds give equal pauses, and different seeds give different pauses`() {
        #expect(pauses(.equal, seed: 7) == pauses(.equal, seed: 7))
        #expect(pauses(.equal, seed: 7) != pauses(.equal, seed: 8))
    }

    @Test func `reset() restarts the schedule with the first pause`() {
        var schedule = ReconnectSchedule(interval: .seconds(1), maximum: .seconds(30), jitter: .none)
        var random = JitterSource(seed: 1)
        #expect(schedule.isFresh)
        for _ in 0..<4 { _ = schedule.next(using: &random) }
        #expect(!schedule.isFresh)
        schedule.reset()
        #expect(schedule.isFresh)
        let pause = schedule.next(using: &random)
        #expect(pause == .seconds(1))
    }

    @Test func `if the maximum is below the reconnect interval, each pause equals the interval`() {
        var schedule = ReconnectSchedule(interval: .seconds(5), maximum: .seconds(2), jitter: .none)
        var random = JitterSource(seed: 1)
        let pauses = (0..<3).map { _ in schedule.next(using: &random) }
        #expect(pauses == [.seconds(5), .seconds(5), .seconds(5)])
    }
}
