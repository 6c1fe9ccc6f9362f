import CourierCore
import TestSupport
import Testing

@testable import CourierMQTT

/// The invariants: a waiter is answered once, a filter is in one packet at a time, each attempt has one end, and a
/// filter is stored before it is sent. At rest the broker has the wanted subscriptions, and no caller waits.
@Suite struct SubscriptionWalkTests {
    @Test func `after every sequence of three steps, the broker has exactly the wanted subscriptions`() throws {
        let filter = try TopicFilter("a")
        // The starts, from which three more steps reach rare states.
        let beginnings: [[SubscriptionWorld.Step]] = [
            [], [.connectWithoutSession, .appWantsLow], [.connectWithoutSession, .appWantsLow, .brokerReceives],
            [.connectWithoutSession, .readerStarts, .brokerReceives, .answerArrives, .appUnwants],
            [.connectWithoutSession, .appWantsLow, .brokerReceives, .answerArrives, .appUnwants, .brokerReceives],
            [.connect, .brokerStartsRefusing, .appWantsHigh, .brokerReceives, .answerArrives],
        ]
        var count = 0
        for beginning in beginnings {
            var world = SubscriptionWorld()
            for step in beginning { world.take(step, filter) }
            explore(world, filter, beginning, depth: 3, &count)
        }
        #expect(count == beginnings.count * (1 + 14 + 14 * 14 + 14 * 14 * 14))
    }

    private func explore(
        _ world: SubscriptionWorld, _ filter: TopicFilter, _ path: [SubscriptionWorld.Step], depth: Int,
        _ count: inout Int
    ) {
        count += 1
        var givenUp = world.set
        let outcomes = givenUp.abandonWaiters()
        if outcomes.count != world.waiters.count { Issue.record("\(path): \(outcomes) is not one for each waiter") }
        for sessionPresent in [true, false] {
            var end = world
            if let problem = end.settle(sessionPresent: sessionPresent) {
                Issue.record("\(path), then a connection with session \(sessionPresent): \(problem)")
                return
            }
        }
        guard depth > 0 else { return }
        for step in SubscriptionWorld.Step.allCases {
            var next = world
            next.take(step, filter)
            explore(next, filter, path + [step], depth: depth - 1, &count)
        }
    }

    @Test(arguments: SeededGenerator.seeds)
    func `after random steps with several filters, the broker has the wanted subscriptions`(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let filters = try ["a", "b/+", "c/#", "$share/g/a", "d"].map { try TopicFilter($0) }
        for walk in 0..<150 {
            var world = SubscriptionWorld()
            for step in 0..<120 {
                let kinds = SubscriptionWorld.Step.allCases
                world.take(kinds[random.below(kinds.count)], filters[random.below(filters.count)])
                // More answers, which would be rare otherwise.
                if random.below(2) == 0 { world.take(.brokerReceives, filters[0]) }
                if random.below(2) == 0 { world.take(.answerArrives, filters[0]) }
                if let complaint = world.complaint {
                    Issue.record("seed \(seed), walk \(walk), step \(step): \(complaint)")
                    return
                }
                guard step.isMultiple(of: 10) else { continue }
                var atRest = world
                atRest.rest()
                if atRest.isConnected, let problem = atRest.complaint ?? atRest.problemAtRest() {
                    Issue.record("seed \(seed), walk \(walk), at rest after step \(step): \(problem)")
                    return
                }
            }
            if let problem = world.settle(sessionPresent: walk.isMultiple(of: 2)) {
                Issue.record("seed \(seed), walk \(walk): \(problem)")
                return
            }
            #expect(world.set.count == Set(world.subscriptions.keys).count, "only what is wanted is remembered")
        }
    }
}
