import CourierCore
import TestSupport
import Testing

@Suite struct TopicNameTests {
    @Test(arguments: ["a", "/", "//", " ", "$SYS/x", "ünïcode/😀", "a/b/c"])
    func `TopicName accepts texts that MQTT allows`(_ text: String) throws {
        #expect(try TopicName(text).string == text)
    }

    /// [MQTT-4.7.0-1] [MQTT-3.3.2-2]
    @Test(arguments: ["a/+", "#", "a+b", "a#"])
    func `a topic name with a wildcard is refused`(_ text: String) throws {
        let error = try #require(expectCourierError(.invalidTopicName) { try TopicName(text) })
        #expect(error.message.contains("only topic filters have wildcards"))
    }

    /// [MQTT-4.7.3-1] [MQTT-4.7.3-3]
    @Test func `a topic name has 1 to 65,535 bytes of UTF-8`() {
        expectCourierError(.invalidTopicName) { try TopicName("") }
        #expect(throws: Never.self) { try TopicName(String(repeating: "a", count: 65_535)) }
        expectCourierError(.invalidTopicName) { try TopicName(String(repeating: "a", count: 65_536)) }
        expectCourierError(.invalidTopicName) { try TopicName(String(repeating: "😀", count: 16_384)) }
    }

    /// [MQTT-4.7.3-2]
    @Test func `a topic name with U+0000 is refused`() {
        expectCourierError(.invalidTopicName) { try TopicName("a\u{0}") }
    }

    @Test func `a $share topic is refused for publishing and accepted in a received message`() throws {
        let error = try #require(expectCourierError(.invalidTopicName) { try TopicName("$share/pool/jobs/resize") })
        #expect(error.message.contains("publish to \"jobs/resize\""))
        for text in ["$share/", "$share/pool", "$share//jobs"] {
            let error = try #require(expectCourierError(.invalidTopicName) { try TopicName(text) })
            #expect(error.message.contains("publish to a name without $share/"))
        }
        for text in ["$share", "$shared/pool/jobs", "a/$share/pool/jobs"] {
            #expect(try TopicName(text).string == text)
            #expect(TopicName.isPlainlyLegal(text))
        }
        #expect(!TopicName.isPlainlyLegal("$share/pool/jobs/resize"))
        #expect(try TopicName(received: "$share/pool/jobs/resize").string == "$share/pool/jobs/resize")
        expectCourierError(.invalidTopicName) { try TopicName(received: "$share/pool/jobs/+") }
    }

    @Test func `a topic name with a wildcard or U+0000 at any position is refused, other ASCII is accepted`() {
        for length in 1...25 {
            let legal = String(repeating: "\u{7f}", count: length)
            #expect(throws: Never.self) { try TopicName(legal) }
            for position in 0..<length {
                for byte in UInt8(0)...127 {
                    var bytes = Array(legal.utf8)
                    bytes[position] = byte
                    let text = String(decoding: bytes, as: UTF8.self)
                    let isLegal = (try? TopicName(text)) != nil
                    if isLegal != !(byte == 0 || byte == 0x23 || byte == 0x2B) {
                        Issue.record("\(byte) at \(position) of \(length)")
                    }
                }
            }
        }
        #expect(throws: Never.self) { try TopicName("\u{80}\u{a3}\u{ab}\u{801}ü/ünïcödé-\u{101}") }
    }
}
