import CommandArguments
import CourierCore
import TestSupport
import Testing

@testable import CourierCommands

struct LoadPlanTests {
    private static func plan(_ publishers: Int, _ subscribers: Int, _ topic: String, _ filter: String?) throws
        -> LoadPlan
    {
        var settings = BenchArguments()
        settings.publishers = publishers
        settings.subscribers = subscribers
        settings.topic = try ClientTemplate(topic: topic, of: "-t")
        settings.filter = try filter.map { try ClientTemplate(filter: $0, of: "--filter") }
        return try LoadPlan(settings, name: "run")
    }

    @Test(
        arguments: [
            ("load", nil, [4, 4, 4]), ("load/%i", nil, [1, 1, 1]), ("load/%i", "load/#", [4, 4, 4]),
            ("load/%i", "+/2", [0, 4, 0]), ("$SYS/%i", "$SYS/3", [0, 0, 4]), ("a/%c", "a/runp1", [4, 0, 0]),
            ("load/%i", "$share/g/load/+", [1, 1, 1]), ("load/%i", "$share/g%i/load/+", [4, 4, 4]),
        ] as [(String, String?, [Int])])
    func `a load plan knows how many copies of each publisher's messages the subscribers receive`(
        topic: String, filter: String?, copies: [Int]
    ) throws {
        let plan = try Self.plan(3, 4, topic, filter)
        #expect(plan.copies(for: 0..<4) == copies)
        #expect(plan.copies(for: [Int]()) == [0, 0, 0])
    }

    @Test func `for random topics and filters, the load plan counts one copy for each matching filter`() throws {
        for seed in SeededGenerator.seeds {
            var chance = SeededGenerator(seed: seed)
            let levels = ["a", "b", "%i", "%c", "x%i"]
            func text(_ levels: [String]) -> String {
                (0...chance.below(3)).map { _ in levels[chance.below(levels.count)] }.joined(separator: "/")
            }
            let topic = text(levels)
            let filter = text(levels + ["+", "+", "+"]) + (chance.chance(1, in: 2) ? "/#" : "")
            guard let plan = try? Self.plan(1 + chance.below(20), 1 + chance.below(20), topic, filter) else { continue }
            for (topic, count) in zip(plan.topics, plan.copies(for: plan.filters.indices)) {
                let name = try TopicName(topic)
                #expect(plan.filters.count { $0.matches(name) } == count, "seed \(seed): \(topic) \(filter)")
            }
        }
    }

    @Test func `a load plan is refused if no subscriber would receive a message`() {
        for (topic, filter) in [("a", "b"), ("a/%i", "a/x%i"), ("a/%c", nil)] as [(String, String?)] {
            let error = #expect(throws: ArgumentError.self) { _ = try Self.plan(2, 2, topic, filter) }
            #expect(error?.message.contains("No message would arrive") == true && error?.hint != nil)
        }
    }

    @Test(arguments: [(1, 1), (0, 7), (7, 0), (3, 100), (100, 3), (64, 64)])
    func `each client of a load plan connects once, and publishers and subscribers connect alternately`(
        publishers: Int, subscribers: Int
    ) throws {
        let plan = try Self.plan(publishers, subscribers, "a", nil)
        let count = publishers + subscribers
        let clients = (0..<count).map { plan.client(of: $0) }
        let ids = Set(clients.map { plan.clientID($0.role, $0.index) })
        #expect(ids.count == count && ids.allSatisfy { $0.utf8.count <= LoadPlan.clientIDLimit })
        #expect(clients.filter { $0.role == .publisher }.map(\.index) == Array(0..<publishers))
        #expect(clients.filter { $0.role == .subscriber }.map(\.index) == Array(0..<subscribers))
        let first = clients.prefix(count / 2).count { $0.role == .publisher }
        #expect(abs(first * 2 - publishers) <= 2)
    }

    @Test func `every client id of bench has at most 23 bytes, and the names of two runs are different`()
        throws
    {
        let name = LoadPlan.randomName
        #expect("\(name)p\(BenchArguments.clientLimit)".utf8.count <= LoadPlan.clientIDLimit)
        #expect(name != LoadPlan.randomName)
    }
}
