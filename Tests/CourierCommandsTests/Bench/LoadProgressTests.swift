import Testing

@testable import CourierCommands

struct LoadProgressTests {
    @Test func `the limit --window of bench counts messages, not the copies that subscribers receive`() {
        var progress = LoadProgress(.arrival, isAcknowledged: false, window: 4, copies: [3, 1])
        // On average, a message has two copies, so the window has room for eight copies.
        var sent = 0
        while progress.hasRoom {
            progress.sent(by: sent % 2)
            sent += 1
        }
        #expect(sent == 4 && progress.expectedCount == 8 && !progress.isHalfFree && !progress.isComplete)
        for _ in 0..<4 { progress.arrived() }
        #expect(progress.isHalfFree && progress.missingCount == 4)
        for _ in 0..<4 { progress.arrived() }
        #expect(progress.isComplete && progress.missingCount == 0)
    }

    @Test func `at QoS 1, a bench run is complete only when all messages are received and acknowledged`() {
        var progress = LoadProgress(.arrival, isAcknowledged: true, window: 10, copies: [1])
        progress.sent(by: 0)
        progress.sent(by: 0)
        progress.arrived()
        progress.acknowledged(from: 0)
        #expect(!progress.isComplete && progress.unansweredCount == 1 && progress.missingCount == 1)
        // The broker refused the second message, so it cannot arrive.
        progress.refused(from: 0)
        #expect(progress.isComplete && progress.expectedCount == 1 && progress.refusedCount == 1)
    }

    @Test func `without subscribers, the limit --window of bench counts unacknowledged messages`() {
        var progress = LoadProgress(.acknowledgement, isAcknowledged: true, window: 2, copies: [0])
        progress.sent(by: 0)
        progress.sent(by: 0)
        #expect(!progress.hasRoom && !progress.isComplete)
        progress.acknowledged(from: 0)
        #expect(progress.hasRoom)
        progress.acknowledged(from: 0)
        #expect(progress.isComplete && progress.expectedCount == 0)
    }

    @Test func `without subscribers, bench sends QoS 0 messages without regard to the limit --window`() {
        var progress = LoadProgress(.sending, isAcknowledged: false, window: 1, copies: [0])
        for _ in 0..<100 { progress.sent(by: 0) }
        #expect(progress.hasRoom && progress.isComplete)
    }

    @Test(arguments: [LoadProgress.Goal.acknowledgement, .arrival])
    func `unanswered messages of a disconnected publisher do not count toward the limit --window of bench`(
        goal: LoadProgress.Goal
    ) {
        let copies = goal == .arrival ? 1 : 0
        var progress = LoadProgress(goal, isAcknowledged: true, window: 2, copies: [copies, copies])
        progress.sent(by: 0)
        progress.sent(by: 1)
        #expect(!progress.hasRoom && progress.unansweredCount == 2)
        progress.lost(publisher: 0)
        #expect(progress.hasRoom && progress.unansweredCount == 1)
        progress.acknowledged(from: 1)
        #expect(progress.unansweredCount == 0 && progress.isComplete == (goal == .acknowledgement))
    }

    @Test
    func `copies that a disconnected subscriber did not receive count as missing, but not toward --window of bench`() {
        var progress = LoadProgress(.arrival, isAcknowledged: false, window: 2, copies: [2])
        progress.sent(by: 0)
        progress.sent(by: 0)
        progress.arrived()
        progress.arrived()
        #expect(progress.hasRoom)
        progress.sent(by: 0)
        #expect(!progress.hasRoom)
        progress.change(copies: [1])
        #expect(progress.hasRoom && progress.missingCount == 4 && !progress.isComplete)
        progress.sent(by: 0)
        #expect(progress.expectedCount == 7)
    }
}
