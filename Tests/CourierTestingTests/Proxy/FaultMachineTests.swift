import CourierCore
import MQTTCodec
import Testing

@testable import CourierTesting

@Suite struct `Fault machine` {
    private static let pubAck = PacketFacts(sender: .server, type: .pubAck)

    private static func publish(_ topic: String, from sender: Endpoint = .client) -> PacketFacts {
        PacketFacts(sender: sender, type: .publish, topics: [topic])
    }

    /// The numbers of those of ten PUBACK packets to which a rule applies.
    private func applied(_ selection: FaultRule.Selection) -> [Int] {
        var machine = FaultMachine([FaultRule(.drop, .pubAck, selecting: selection)])
        return (1...10).filter { _ in machine.decide(Self.pubAck).isDropped }
    }

    @Test(
        arguments: [
            (.all, Array(1...10)), (.number(3), [3]), (.number(11), []), (.every(4), [4, 8]), (.every(0), []),
            (.first(2), [1, 2]), (.after(8), [9, 10]),
        ] as [(FaultRule.Selection, [Int])])
    func `a fault rule for numbered packets, such as every fourth packet, applies to no other packets`(
        selection: FaultRule.Selection, numbers: [Int]
    ) {
        #expect(applied(selection) == numbers)
    }

    @Test func `a fault rule counts only packets of its types, sender and topic`() throws {
        let rule = FaultRule(
            .drop, of: [.publish, .subscribe], from: .client, topic: try TopicFilter("a/#"), selecting: .number(2))
        var machine = FaultMachine([rule])
        let others = [
            Self.pubAck, Self.publish("b"), Self.publish("a/1", from: .server), PacketFacts(sender: .client, type: nil),
            PacketFacts(sender: .client, type: .unsubscribe, topics: ["a/#"]),
            PacketFacts(sender: .client, type: .publish),
        ]
        #expect(others.allSatisfy { machine.decide($0) == FaultDecision() })
        #expect(!machine.decide(Self.publish("a")).isDropped)
        #expect(machine.decide(PacketFacts(sender: .client, type: .subscribe, topics: ["b", "a/+/c"])).isDropped)
    }

    @Test func `a fault rule without packet types matches even a packet of the reserved type 0`() {
        var machine = FaultMachine([FaultRule(.drop)])
        #expect(machine.decide(PacketFacts(sender: .client, type: nil)).isDropped)
    }

    @Test func `if several rules match a packet, all their faults apply, and their delays are added`() {
        let rules = [
            FaultRule(.delay(.seconds(1)), .pubAck), FaultRule(.delay(.seconds(2))), FaultRule(.duplicate, .pubAck),
            FaultRule(.corrupt, .publish), FaultRule(.cutAfter(.reset), .pubAck), FaultRule(.cut(.orderly)),
        ]
        var machine = FaultMachine(rules)
        let decision = machine.decide(Self.pubAck)
        #expect(decision.delay == .seconds(3))
        #expect(decision.copyCount == 2)
        #expect(!decision.isCorrupted)
        #expect(decision.cut == .afterForwarding(.reset, rules[4]))
        #expect(decision.rules == [rules[0], rules[1], rules[2], rules[4], rules[5]])
    }

    @Test(arguments: [FaultRule(.drop), FaultRule(.cut(.reset))])
    func `a packet is not forwarded if one rule drops or cuts it and another rule duplicates it`(rule: FaultRule) {
        var machine = FaultMachine([FaultRule(.duplicate), rule])
        #expect(machine.decide(Self.pubAck).copyCount == 0)
    }

    @Test(arguments: [(Duration.seconds(-5), Duration.zero), (.seconds(Int64.max), FaultRule.maximumDelay)])
    func `the delay of a packet is limited to the range from 0 to 24 hours`(delay: Duration, expected: Duration) {
        var machine = FaultMachine([FaultRule(.delay(delay)), FaultRule(.delay(delay))])
        #expect(machine.decide(Self.pubAck).delay == expected)
    }

    @Test func `an added rule counts only packets after its addition, and a removed rule has no effect`() {
        var machine = FaultMachine()
        #expect(machine.decide(Self.pubAck) == FaultDecision())
        machine.add(FaultRule(.drop, .pubAck, selecting: .number(2)))
        #expect(!machine.decide(Self.pubAck).isDropped)
        #expect(machine.decide(Self.pubAck).isDropped)
        machine.add(FaultRule(.drop))
        machine.removeAll()
        #expect(machine.decide(Self.pubAck) == FaultDecision())
    }
}
