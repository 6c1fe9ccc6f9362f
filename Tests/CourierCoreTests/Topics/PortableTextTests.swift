import CourierCore
import TestSupport
import Testing

@Suite struct PortableTextTests {
    /// The characters for which mosquitto 2.0 closes a connection, according to its documentation.
    private static func endsConnections(_ scalar: Unicode.Scalar) -> Bool {
        let value = scalar.value
        return value <= 0x1F || (0x7F...0x9F).contains(value) || (0xFDD0...0xFDEF).contains(value)
            || value % 0x10000 == 0xFFFE || value % 0x10000 == 0xFFFF
    }

    @Test func `a text is portable if and only if each Unicode scalar at each position is allowed`() {
        for value in UInt32(0)...0x10FFFF {
            guard let scalar = Unicode.Scalar(value) else { continue }
            let isForbidden = Self.endsConnections(scalar)
            // A short text, and a long one that is checked eight bytes at a time.
            #expect(PortableText.isPortable("a\(scalar)") != isForbidden, "U+\(String(value, radix: 16))")
            guard isForbidden || value < 0x3000 else { continue }
            for prefix in 0..<9 {
                let text = String(repeating: "x", count: prefix) + String(scalar) + "12345678"
                #expect(PortableText.isPortable(text) != isForbidden, "U+\(String(value, radix: 16)) at \(prefix)")
                #expect((PortableText.problem(of: text) == nil) != isForbidden)
            }
        }
    }

    @Test(arguments: [
        ("a\nb", "the control character U+000A as its character 2"),
        ("\u{1F600}é\u{9F}", "the control character U+009F as its character 3"),
        ("\(Unicode.Scalar.of(0xFDD0))", "the non-character U+FDD0 as its character 1"),
        ("x\(Unicode.Scalar.of(0x10FFFF))\n", "the non-character U+10FFFF as its character 2"),
    ])
    func `PortableText reports the first forbidden character and its position`(_ text: String, _ words: String) {
        #expect(PortableText.problem(of: text)?.contains(words) == true)
    }

    @Test func `the fast check for plain topic names accepts only valid and portable topic names`() {
        var generator = SeededGenerator(seed: 29)
        let characters: [Character] = ["a", "/", " ", "~", "+", "#", "$", "\n", "\u{7F}", "\u{80}", "é", "\u{0}"]
        var taken = 0
        for _ in 0..<100_000 {
            var text = Bool.random(using: &generator) ? "" : "$share/x/"
            for _ in 0..<Int.random(in: 0...20, using: &generator) {
                let isPlain = Int.random(in: 0..<16, using: &generator) != 0
                text.append(isPlain ? "a" : characters.randomElement(using: &generator) ?? "a")
            }
            guard PortableText.isPlainTopicName(text) else { continue }
            taken += 1
            #expect((try? TopicName(text)) != nil && PortableText.isPortableTopic(text), "\(text.debugDescription)")
        }
        #expect(taken > 10_000)
        #expect(PortableText.isPlainTopicName("a/b") && PortableText.isPlainTopicName("chat/7/notes ~"))
        #expect(!PortableText.isPlainTopicName("") && !PortableText.isPlainTopicName("$share/a/b"))
    }

    @Test func `a portable topic has at most 200 level separators`() {
        let deepest = String(repeating: "/", count: 200)
        #expect(PortableText.isPortableTopic(deepest))
        #expect(PortableText.topicProblem(of: deepest) == nil)
        #expect(!PortableText.isPortableTopic(deepest + "/"))
        #expect(PortableText.topicProblem(of: deepest + "/")?.contains("has 202 levels") == true)
        // A long topic with few levels is portable.
        #expect(PortableText.isPortableTopic(String(repeating: "x", count: 1_000)))
    }
}
