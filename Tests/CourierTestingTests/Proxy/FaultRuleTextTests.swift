import CourierCore
import CourierTesting
import MQTTCodec
import TestSupport
import Testing

@Suite struct `Fault rule text` {
    @Test(arguments: [
        ("drop the third PUBACK", FaultRule(.drop, .pubAck, selecting: .number(3))),
        ("cut after 100 packets", FaultRule(.cutAfter(.orderly), selecting: .number(100))),
        ("drop PUBACK 3", FaultRule(.drop, .pubAck, selecting: .number(3))),
        ("Drop The 3rd puback", FaultRule(.drop, .pubAck, selecting: .number(3))),
        ("drop PUBACK", FaultRule(.drop, .pubAck)), ("drop every packet", FaultRule(.drop)),
        ("drop all packets from the broker", FaultRule(.drop, from: .server)),
        ("drop PUBLISH to the broker", FaultRule(.drop, .publish, from: .client)),
        (
            "duplicate every tenth PUBLISH from client",
            FaultRule(.duplicate, .publish, from: .client, selecting: .every(10))
        ),
        ("duplicate every 5 PUBACKs", FaultRule(.duplicate, .pubAck, selecting: .every(5))),
        (
            "corrupt the first 3 PUBREC, PUBREL and PUBCOMP",
            FaultRule(.corrupt, of: [.pubRec, .pubRel, .pubComp], selecting: .first(3))
        ),
        ("corrupt the first CONNACK", FaultRule(.corrupt, .connAck, selecting: .number(1))),
        ("drop PUBACK after the first 10", FaultRule(.drop, .pubAck, selecting: .after(10))),
        ("cut at the second SUBSCRIBE", FaultRule(.cut(.orderly), .subscribe, selecting: .number(2))),
        ("reset CONNECT", FaultRule(.cut(.reset), .connect)),
        ("reset after every 20th packet", FaultRule(.cutAfter(.reset), selecting: .every(20))),
    ])
    func `the text of a fault rule is parsed into the expected rule`(text: String, rule: FaultRule) throws {
        #expect(try FaultRule(text) == rule)
    }

    @Test(arguments: [
        "delay PUBLISH to a/# by 2 s", "delay PUBLISH a/# by 2s", "delay every PUBLISH by 2 seconds to a/#",
        "delay PUBLISH to \"a/#\" by 2000 ms", "delay PUBLISH to a/# by 2.0 S",
    ])
    func `the parts of a delay rule may have any order, and the time may have different units`(text: String) throws {
        #expect(
            try FaultRule(text) == FaultRule(.delay(.seconds(2)), .publish, topic: TopicFilter("a/#")))
    }

    @Test func `a topic filter in a rule keeps its case, and a quoted filter may contain spaces and keywords`() throws {
        #expect(try FaultRule("drop PUBLISH \"by the Way\"").topic?.string == "by the Way")
        #expect(try FaultRule("drop PUBLISH to By").topic?.string == "By")
        #expect(try FaultRule("drop PUBLISH to 7").topic?.string == "7")
    }

    @Test(arguments: [
        ("", 1, "a rule begins with drop"), ("lose PUBACK", 1, "a rule begins with drop"),
        ("drop", 5, "write “packets”, CONNECT"), ("drop the third PUBAKC", 16, "a packet type is missing"),
        ("drop 3 PUBACK", 6, "“the first 3” for 3 packets, or “the third” for one"),
        ("drop the PUBACK", 10, "“the” needs a number"), ("drop PUBACK 0", 13, "at least 1"),
        ("drop every 0 PUBACK", 12, "at least 1"), ("cut after -1 packets", 11, "at least 1"),
        ("delay PUBLISH", 14, "the duration of the delay is missing"),
        ("delay PUBLISH by 2", 18, "write the duration as in “by 2 s”"),
        ("delay PUBLISH by s", 18, "write the duration"), ("delay PUBLISH by 2 years", 18, "write the duration"),
        ("delay PUBLISH by 0 s", 18, "longer than 0 and at most 24 hours"),
        ("delay PUBLISH by 1441 min", 18, "at most 24 hours"), ("delay PUBLISH by", 17, "write the duration"),
        ("drop PUBLISH by 2 s", 14, "only a delay has a duration"),
        ("drop PUBLISH from mars", 19, "“the client” or “the broker”"),
        ("drop PUBLISH to a/#/b", 17, "has '#' that is not its whole last level"),
        ("drop PUBLISH to", 16, "write a topic filter"), ("drop PUBACK to a", 1, "PUBACK has no topic"),
        ("drop PUBACK form", 13, "\"form\" is not expected here"),
        ("drop PUBLISH form client", 19, "\"client\" is not expected here"),
        ("drop the third PUBACK 4", 23, "the number is given twice"),
        ("drop packets from client from broker", 31, "the sender is given twice"),
        ("drop PUBACK after x", 19, "write a number"), ("drop PUBACK,", 13, "a packet type is missing"),
    ])
    func `an invalid rule text is refused with the column of the mistake and the allowed words`(
        text: String, column: Int, message: String
    ) {
        let error = #expect(throws: FaultRuleError.self) { try FaultRule(text) }
        #expect(error?.column == column, "\(String(describing: error))")
        #expect(error?.message.contains(message) == true, "\(String(describing: error))")
        #expect(error?.text == text)
        #expect(error?.description.hasPrefix("column \(column): ") == true)
    }

    @Test func `the description of a random fault rule is parsed into an equal rule`() throws {
        var random = SeededGenerator(seed: 7)
        for _ in 0..<2_000 {
            let number = [1, 3, 11, 12, 13, 21, 22, 100, 111].randomElement(using: &random) ?? 1
            let selection: FaultRule.Selection =
                [.all, .number(number), .every(number), .first(number), .after(number)].randomElement(using: &random)
                ?? .all
            let action: FaultRule.Action =
                [
                    .drop, .duplicate, .corrupt, .cut(.orderly), .cut(.reset), .cutAfter(.orderly), .cutAfter(.reset),
                    .delay(.milliseconds(number)), .delay(.seconds(number)), .delay(.microseconds(number)),
                ].randomElement(using: &random) ?? .drop
            let hasTopic = Bool.random(using: &random)
            let types: Set<PacketType> =
                [[], [.publish], [.publish, .unsubscribe], hasTopic ? [.subscribe] : [.pubAck, .connect]]
                .randomElement(using: &random) ?? []
            let rule = FaultRule(
                action, of: types, from: [nil, .client, .server].randomElement(using: &random) ?? nil,
                topic: hasTopic ? try TopicFilter("a b/+/the/#") : nil, selecting: selection)
            #expect(try FaultRule(rule.description) == rule, "\(rule)")
        }
    }

    @Test func `a rule text of random words is parsed or refused without a crash`() {
        let words = [
            "drop", "cut", "after", "the", "first", "every", "3", "0", "-1", "PUBLISH", "PUBACK,", "packets", "from",
            "client", "to", "a/#", "by", "2", "s", "2s", "\"", "\"x\"", ",", "99999999999999999999", "ü", "1e400ms",
        ]
        var random = SeededGenerator(seed: 11)
        for _ in 0..<20_000 {
            let text = (0..<Int.random(in: 0...9, using: &random))
                .map { _ in words.randomElement(using: &random) ?? "" }.joined(separator: " ")
            do throws(FaultRuleError) {
                _ = try FaultRule(text)
            } catch {
                #expect((1...text.count + 1).contains(error.column), "\(text): \(error)")
            }
        }
    }
}
