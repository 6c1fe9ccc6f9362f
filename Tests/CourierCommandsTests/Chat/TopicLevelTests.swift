import CourierCore
import TestSupport
import Testing

@testable import CourierCommands

struct TopicLevelTests {
    @Test(arguments: [
        ("lobby", "lobby"), ("a-b_c.d~1", "a-b_c.d~1"), ("a/b", "a%2Fb"), ("+", "%2B"), ("#", "%23"), ("%", "%25"),
        ("$SYS", "%24SYS"), ("é", "%C3%A9"), ("two words", "two%20words"), ("\u{0}", "%00"), ("😀", "%F0%9F%98%80"),
    ])
    func `a text is escaped to one topic level and unescaped to the same text`(text: String, level: String) {
        #expect(TopicLevel.escape(text) == level)
        #expect(TopicLevel.text(of: level) == text)
    }

    @Test(arguments: ["%", "%2", "%zz", "%2f", "%61", "a/b", "é", "%FF", "a+b", "%ED%A0%80"])
    func `unescaping returns nil for a topic level that escape() never produces`(level: String) {
        #expect(TopicLevel.text(of: level) == nil)
    }

    @Test(arguments: SeededGenerator.seeds)
    func `any user id is escaped to one topic level and unescaped to the same user id`(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<200 {
            let scalars = (0..<(1 + generator.below(10))).compactMap { _ in
                Unicode.Scalar(generator.flag() ? UInt32(generator.below(128)) : UInt32(generator.below(0x110000)))
            }
            let text = String(String.UnicodeScalarView(scalars))
            if text.isEmpty { continue }
            let topic = try ChatTopics.presence(of: text).template.name(for: nil)
            #expect(topic.string.split(separator: "/", omittingEmptySubsequences: false).count == 3)
            let level = try #require(try ChatTopics.people.arguments(in: topic)?["person"])
            #expect(try #require(TopicLevel.text(of: level)).unicodeScalars.elementsEqual(text.unicodeScalars))
        }
    }
}
