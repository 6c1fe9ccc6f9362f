import Testing

@testable import CourierCommands

struct ChatNameTests {
    @Test(arguments: [(" lobby ", "lobby"), ("e\u{301}", "é"), ("two words", "two words"), ("#/+", "#/+")])
    func `a typed chat name is trimmed and its characters are normalized`(typed: String, name: String) {
        #expect(ChatName(typed)?.text.unicodeScalars.elementsEqual(name.unicodeScalars) == true)
    }

    @Test(arguments: [
        "", "  ", "a\u{1B}b", "a\nb", String(repeating: "x", count: 33), "a" + String(repeating: "\u{301}", count: 500),
    ])
    func `ChatName returns nil if the text is empty, too long or has control characters`(typed: String) {
        #expect(ChatName(typed) == nil)
    }

    @Test(arguments: [
        (" ada ", "ada"), (String(repeating: "x", count: 40), String(repeating: "x", count: 32)), ("", "somebody"),
        ("a\nb", "somebody"), (String(repeating: " ", count: 40) + "ada", "somebody"),
        ("a" + String(repeating: "\u{301}", count: 500_000), "á" + String(repeating: "\u{301}", count: 126)),
    ])
    func `a received user name is cut to the limit, or replaced if it is invalid`(text: String, name: String) {
        #expect(ChatName.heard(text) == name)
        #expect(ChatName.heard(text).utf8.count <= ChatName.byteLimit)
    }
}
