import Testing

@testable import CourierCommands

struct AttemptScheduleTests {
    private static func begin(_ schedule: inout AttemptSchedule, after time: Duration) -> Int {
        var count = 0
        while schedule.next(after: time) != nil { count += 1 }
        return count
    }

    @Test func `the first connection attempt runs alone, and then at most 64 attempts run at the same time`() {
        var schedule = AttemptSchedule(count: 1_000, rampUp: .zero)
        #expect(Self.begin(&schedule, after: .zero) == 1)
        schedule.ended(isSuccess: true)
        #expect(Self.begin(&schedule, after: .zero) == AttemptSchedule.limit)
        for _ in 0..<10 { schedule.ended(isSuccess: false) }
        #expect(Self.begin(&schedule, after: .zero) == 10 && !schedule.isDone)
        while schedule.endedCount < schedule.begunCount {
            schedule.ended(isSuccess: true)
            _ = Self.begin(&schedule, after: .zero)
        }
        #expect(schedule.isDone && schedule.begunCount == 1_000)
    }

    @Test func `connection attempts are spread evenly over the ramp-up time`() {
        var schedule = AttemptSchedule(count: 100, rampUp: .seconds(10))
        var begun: [Int] = []
        for second in 0...10 {
            while schedule.next(after: .seconds(second)) != nil { schedule.ended(isSuccess: true) }
            begun.append(schedule.begunCount)
        }
        #expect(begun == [1, 11, 21, 31, 41, 51, 61, 71, 81, 91, 100] && schedule.isDone)
    }

    @Test func `if the first 64 attempts fail, no further attempts begin`() {
        var schedule = AttemptSchedule(count: 1_000, rampUp: .zero)
        var failedCount = 0
        while schedule.next(after: .zero) != nil {
            schedule.ended(isSuccess: false)
            failedCount += 1
        }
        #expect(failedCount == AttemptSchedule.limit && schedule.isDone)
    }

    @Test func `AttemptSchedule is done if there are few clients and all their connection attempts have failed`() {
        var schedule = AttemptSchedule(count: 2, rampUp: .zero)
        while schedule.next(after: .zero) != nil { schedule.ended(isSuccess: false) }
        #expect(schedule.isDone && schedule.begunCount == 2)
    }

    @Test(
        arguments: [
            (nil, nil, 5, Int.max), (nil, 7, 5, 7), (100, nil, 0, 1), (100, nil, 2, 201), (100, 150, 2, 150),
        ] as [(Int?, Int?, UInt64, Int)])
    func `the number of messages that may be sent is limited by the rate and by the total count`(
        rate: Int?, count: Int?, seconds: UInt64, due: Int
    ) {
        #expect(SendPacer(rate: rate, count: count).due(after: seconds * 1_000_000_000) == due)
    }

    @Test func `a bench run needs one file descriptor for each client, plus a reserve`() {
        #expect(DescriptorLimit.needed(for: 2) < 64)
        #expect((10_064...10_200).contains(DescriptorLimit.needed(for: 10_000)))
    }
}
