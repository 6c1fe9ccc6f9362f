import Testing

@testable import CourierCommands

struct StringPrefixTests {
    @Test(arguments: [
        ("abc", 5, "abc"), ("abc", 3, "abc"), ("abc", 2, "ab"), ("abc", 0, ""), ("abc", -1, ""), ("", 0, ""),
        ("aé", 2, "a"), ("日本", 5, "日"), ("😀", 3, ""),
    ])
    func `prefix(bytes) ends after the last whole Unicode scalar that fits into the byte limit`(
        text: String, limit: Int, beginning: String
    ) {
        #expect(text.prefix(bytes: limit) == beginning)
    }

    @Test func `prefix(bytes) can end inside a character that has many combining marks`() {
        let tower = "a" + String(repeating: "\u{301}", count: 500_000)
        #expect(tower.prefix(bytes: 8).unicodeScalars.elementsEqual("a\u{301}\u{301}\u{301}".unicodeScalars))
    }
}
