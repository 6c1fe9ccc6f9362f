import CourierCore
import Testing

@testable import CourierCommands

struct LiveLineTests {
    @Test func `each live line of bench shows only the counts and times of the last second`() {
        var figures = ConnectionFigures()
        (figures.publisherCount, figures.subscriberCount) = (1, 2)
        for _ in 0..<3 { figures.opened(in: 1_000, after: .seconds(1)) }
        var progress = LoadProgress(.arrival, isAcknowledged: false, window: 10, copies: [1])
        var line = LiveLine()
        for _ in 0..<5 {
            progress.sent(by: 0)
            progress.arrived()
            line.add(8_000_000)
        }
        #expect(line.next(figures, progress) == "3 connected, 5 sent, 5 arrived, 5/s, 50 % 8.0 ms, 99 % 8.0 ms")
        progress.sent(by: 0)
        #expect(line.next(figures, progress) == "3 connected, 6 sent, 5 arrived, 0/s")
    }

    @Test func `the live line of bench shows the numbers of failed and lost connections`() {
        var figures = ConnectionFigures()
        (figures.publisherCount, figures.subscriberCount) = (0, 4)
        figures.opened(in: 1_000, after: .seconds(1))
        figures.opened(in: 1_000, after: .seconds(1))
        figures.failed(.refusal("No room."))
        figures.lost(.refusal("Later."))
        #expect(LiveLine.text(figures) == "2 of 4 connected, 1 failed, 1 lost")
        #expect(
            figures.problemLine
                == "Error: 1 of 4 clients failed, and 4 of 4 clients did not try to connect, "
                + "and 1 of 4 connections were lost. "
                + "The first problem: No room.")
    }
}
