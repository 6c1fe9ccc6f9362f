import CourierCore
import TestSupport
import Testing

@Suite struct TopicNameTests {
    @Test(arguments: ["a", "/", "//", " ", "$SYS/x", "ünïcode/😀", "a/b/c"])
    func `what MQTT allows is a name`(_ text: String) throws {
        #expect(try TopicName(text).string == text)
    }

    @Test(arguments: ["a/+", "#", "a+b", "a#"])
    func `a wildcard in a name is refused [MQTT-4.7.0-1] [MQTT-3.3.2-2]`(_ text: String) throws {
        let error = try #require(expectCourierError(.invalidTopicName) { try TopicName(text) })
        #expect(error.message.contains("wildcards are for topic filters"))
    }

    @Test func `length is counted in bytes of UTF-8, 1 to 65,535 [MQTT-4.7.3-1] [MQTT-4.7.3-3]`() {
        expectCourierError(.invalidTopicName) { try TopicName("") }
        #expect(throws: Never.self) { try TopicName(String(repeating: "a", count: 65_535)) }
        expectCourierError(.invalidTopicName) { try TopicName(String(repeating: "a", count: 65_536)) }
        expectCourierError(.invalidTopicName) { try TopicName(String(repeating: "😀", count: 16_384)) }
    }

    @Test func `U+0000 is refused [MQTT-4.7.3-2]`() {
        expectCourierError(.invalidTopicName) { try TopicName("a\u{0}") }
    }
}
