import Testing

@testable import CourierCommands

struct ChatNameTests {
    @Test(arguments: [(" lobby ", "lobby"), ("e\u{301}", "é"), ("two words", "two words"), ("#/+", "#/+")])
    func `a name is what was meant`(typed: String, name: String) {
        #expect(ChatName(typed)?.text.unicodeScalars.elementsEqual(name.unicodeScalars) == true)
    }

    @Test(arguments: [
        "", "  ", "a\u{1B}b", "a\nb", String(repeating: "x", count: 33), "a" + String(repeating: "\u{301}", count: 500),
    ])
    func `what is no name is none`(typed: String) { #expect(ChatName(typed) == nil) }
}
