import CourierCore
import TestSupport
import Testing

@testable import CourierMQTT

/// The order in which endpoints are tried: exact for short lists, and as rules for random lists.
@Suite struct EndpointRoundTests {
    private static func options(_ alternatives: BrokerEndpoint...) -> ConnectOptions {
        ConnectOptions(
            host: "a", port: 1, clientId: "c", username: "", password: "", alternatives: alternatives)
    }

    private func round(_ alternatives: [BrokerEndpoint], _ random: inout SeededGenerator) -> EndpointRound {
        let options = ConnectOptions(
            host: "a", port: 1, clientId: "c", username: "", password: "", alternatives: alternatives)
        return EndpointRound(EndpointList(options, limit: 16), using: &random)
    }

    // MARK: Lists

    @Test func `an endpoint list has no duplicates, starts with the options' host and is sorted by priority`() {
        let list = EndpointList(
            Self.options(
                BrokerEndpoint(host: "far", port: 1, priority: 9), BrokerEndpoint(host: "a", port: 1, priority: 3),
                BrokerEndpoint(host: "b", port: 1), BrokerEndpoint(host: "a", port: 2),
                BrokerEndpoint(host: "b", port: 1, weight: 7)), limit: 16)
        #expect(list.endpoints.map(\.description) == ["a:1", "b:1", "a:2", "far:1 priority 9"])
        #expect(list.leftOutCount == 0)
        #expect(list.index(host: "a", port: 2) == 2)
        #expect(list.index(host: "a", port: 3) == nil)
    }

    @Test func `an endpoint list over its limit omits the least preferred endpoints`() {
        let all = (1...40).map { BrokerEndpoint(host: "h\($0)", port: 1, priority: UInt16(40 - $0)) }
        let options = ConnectOptions(
            host: "a", port: 1, clientId: "c", username: "", password: "", alternatives: all)
        let list = EndpointList(options, limit: 3)
        #expect(list.endpoints.map(\.host) == ["a", "h40", "h39"])
        #expect(list.leftOutCount == 38)
        #expect(EndpointList(options, limit: 0).endpoints.map(\.host) == ["a"])
        #expect(EndpointList([], limit: 3) == nil)
    }

    @Test func `connect options for another endpoint differ only in host, port and scheme`() {
        let plain = Self.options(BrokerEndpoint(host: "b", port: 2, scheme: "tls"))
        let there = plain.at(plain.alternatives[0])
        #expect(there.host == "b" && there.port == 2 && there.scheme == "tls")
        #expect(there.clientId == plain.clientId && there.alternatives == plain.alternatives)
        #expect(plain.at(BrokerEndpoint(host: "b", port: 2)).scheme == nil)
    }

    // MARK: Rounds

    @Test func `a round with a single endpoint selects this endpoint again after each failure`() {
        var random = SeededGenerator(seed: 1)
        var round = round([], &random)
        for _ in 0..<3 {
            #expect(round.failed(mayRecover: true, using: &random) == .over)
            round.accepted(using: &random)
            #expect(round.isAtPreferred)
            #expect(round.failed(mayRecover: true, using: &random) == .over)
        }
    }

    @Test func `an endpoint that lost its connection is tried last among the endpoints of equal priority`() {
        var random = SeededGenerator(seed: 2)
        var round = round(
            [BrokerEndpoint(host: "b", port: 1), BrokerEndpoint(host: "far", port: 1, priority: 1)], &random)
        #expect(round.current.host == "a")
        round.accepted(using: &random)
        #expect(round.failed(mayRecover: true, using: &random) == .other)
        var turns = [round.current.host]
        while round.failed(mayRecover: true, using: &random) == .next { turns.append(round.current.host) }
        #expect(turns == ["b", "a", "far"])
        #expect(round.current.host == "a", "when all have failed, none stands behind another")
    }

    @Test func `an endpoint that lost its connection and has a unique priority is tried first, after a pause`() {
        var random = SeededGenerator(seed: 3)
        var round = round([BrokerEndpoint(host: "far", port: 1, priority: 1)], &random)
        round.accepted(using: &random)
        #expect(round.failed(mayRecover: true, using: &random) == .over)
        #expect(round.current.host == "a")
        round.attempted()
        #expect(round.failed(mayRecover: true, using: &random) == .next)
        round.accepted(using: &random)
        #expect(round.current.host == "far" && !round.isAtPreferred)
        #expect(round.failed(mayRecover: true, using: &random) == .other)
        #expect(round.current.host == "a", "when the other is lost, the preferred one is first")
    }

    @Test func `if an endpoint that lost its connection is tried again and fails, all other endpoints are tried`() {
        var random = SeededGenerator(seed: 4)
        var round = round([BrokerEndpoint(host: "b", port: 1), BrokerEndpoint(host: "c", port: 1)], &random)
        _ = round.failed(mayRecover: true, using: &random)
        round.accepted(using: &random)
        round.attempted()
        var count = 1
        while round.failed(mayRecover: true, using: &random) == .next { count += 1 }
        #expect(count == 3)
    }

    @Test func `a round of attempts does not go on while every failed endpoint has a permanent error`() {
        var random = SeededGenerator(seed: 5)
        var round = round([BrokerEndpoint(host: "b", port: 1)], &random)
        #expect(round.goesOn)
        #expect(round.failed(mayRecover: false, using: &random) == .next)
        #expect(!round.goesOn)
        #expect(round.failed(mayRecover: false, using: &random) == .over)
        #expect(round.failed(mayRecover: true, using: &random) == .next)
        #expect(round.goesOn && !round.hasNext)
    }

    @Test func `select() makes an endpoint of the list the current endpoint`() {
        var random = SeededGenerator(seed: 6)
        var round = round([BrokerEndpoint(host: "b", port: 1), BrokerEndpoint(host: "c", port: 1)], &random)
        #expect(round.select(host: "c", port: 1) == true)
        #expect(round.current.host == "c")
        #expect(round.select(host: "c", port: 1) == false, "it is there already")
        #expect(round.select(host: "elsewhere", port: 1) == false)
        #expect(round.failed(mayRecover: true, using: &random) == .next)
        #expect(round.current.host == "b")
        #expect(round.failed(mayRecover: true, using: &random) == .over)
    }

    @Test func `a return to the preferred endpoint selects this endpoint even if it has failed`() {
        var random = SeededGenerator(seed: 7)
        var round = round([BrokerEndpoint(host: "far", port: 1, priority: 1)], &random)
        _ = round.failed(mayRecover: true, using: &random)
        round.accepted(using: &random)
        round.returnToPreferred(using: &random)
        #expect(round.current.host == "a")
        #expect(round.failed(mayRecover: true, using: &random) == .next)
        #expect(round.current.host == "far")
    }

    // MARK: Properties

    @Test func `a round tries each endpoint once, in order of priority`() {
        for seed in UInt64(1)...500 {
            var random = SeededGenerator(seed: seed)
            let count = Int.random(in: 0...15, using: &random)
            let others = (0..<count).map { index in
                BrokerEndpoint(
                    host: "h\(index)", port: 1, priority: UInt16.random(in: 0...3, using: &random),
                    weight: UInt16.random(in: 0...3, using: &random))
            }
            var round = round(others, &random)
            for number in 0..<6 {
                #expect(number > 0 || round.current.host == "a", "its own host is the first of all, seed \(seed)")
                var turns = [round.current]
                while round.failed(mayRecover: Bool.random(using: &random), using: &random) == .next {
                    turns.append(round.current)
                }
                #expect(Set(turns.map(\.host)).count == count + 1, "seed \(seed)")
                #expect(turns.count == count + 1, "seed \(seed)")
                #expect(turns.map(\.priority) == turns.map(\.priority).sorted(), "seed \(seed)")
            }
        }
    }

    @Test func `after random events, every round of endpoints ends, and the next round tries all endpoints`() {
        for seed in UInt64(1)...500 {
            var random = SeededGenerator(seed: seed)
            let others = (0..<5).map { index in
                BrokerEndpoint(host: "h\(index)", port: 1, priority: UInt16.random(in: 0...1, using: &random))
            }
            var round = round(others, &random)
            var sinceOver = 0
            for _ in 0..<200 {
                round.attempted()
                sinceOver += 1
                switch Int.random(in: 0...9, using: &random) {
                case 0:
                    round.accepted(using: &random)
                    let lost = round.current
                    let turn = round.failed(mayRecover: true, using: &random)
                    #expect((turn == .over) == (round.current == lost), "seed \(seed)")
                    #expect(turn != .next, "seed \(seed)")
                    sinceOver = 0
                case 1: _ = round.select(host: "h\(Int.random(in: 0...6, using: &random))", port: 1)
                default: if round.failed(mayRecover: true, using: &random) == .over { sinceOver = 0 }
                }
                #expect(sinceOver <= 40, "seed \(seed)")
            }
            // From any state, repeated failures lead to all endpoints.
            while round.failed(mayRecover: true, using: &random) == .next {}
            var hosts: Set<String> = [round.current.host]
            while round.failed(mayRecover: true, using: &random) == .next { hosts.insert(round.current.host) }
            #expect(hosts.count == 6, "seed \(seed)")
        }
    }

    @Test func `equal seeds give the same order of endpoints`() {
        let others = (0..<10).map { BrokerEndpoint(host: "h\($0)", port: 1) }
        func order(_ seed: UInt64) -> [String] {
            var random = SeededGenerator(seed: seed)
            var round = round(others, &random)
            var hosts = [round.current.host]
            while round.failed(mayRecover: true, using: &random) == .next { hosts.append(round.current.host) }
            return hosts
        }
        #expect(order(1) == order(1))
        #expect(Set((1...20).map { order($0) }).count > 10)
    }

    @Test(arguments: [[1, 1], [3, 1], [60, 30, 10], [1, 1, 1, 1], [65_535, 1]] as [[UInt16]])
    func `the first of several endpoints with equal priority is chosen in proportion to the weights`(
        _ weights: [UInt16]
    ) throws {
        let found = weights.enumerated().map { BrokerEndpoint(host: "\($0)", port: 1, weight: $1) }
        let list = try #require(EndpointList(found, limit: 16))
        var random = SeededGenerator(seed: 11)
        var counts: [String: Int] = [:]
        let draws = 20_000
        for _ in 0..<draws { counts[EndpointRound(list, using: &random).current.host, default: 0] += 1 }
        let sum = weights.reduce(0) { $0 + Double($1) }
        for (index, weight) in weights.enumerated() {
            let share = Double(counts["\(index)"] ?? 0) / Double(draws)
            #expect(abs(share - Double(weight) / sum) < 0.015, "\(weights): \(counts)")
        }
    }

    @Test func `an endpoint with weight 0 is rarely tried first, unless all endpoints have weight 0`() throws {
        func firsts(_ weights: [UInt16]) throws -> [Int] {
            let found = weights.enumerated().map { BrokerEndpoint(host: "\($0)", port: 1, weight: $1) }
            let list = try #require(EndpointList(found, limit: 16))
            var random = SeededGenerator(seed: 12)
            var counts = weights.map { _ in 0 }
            for _ in 0..<10_000 {
                counts[Int(EndpointRound(list, using: &random).current.host) ?? 0] += 1
            }
            return counts
        }
        let rare = try firsts([0, 100])[0]
        #expect((10...300).contains(rare), "\(rare)")
        for count in try firsts([0, 0, 0, 0]) { #expect((2_200...2_800).contains(count), "\(count)") }
    }
}
