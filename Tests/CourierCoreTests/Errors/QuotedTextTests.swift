import CourierCore
import Testing

/// How text from outside is shown in error messages and logs.
@Suite struct QuotedTextTests {
    @Test(arguments: [
        ("a/b", #""a/b""#), ("", #""""#), ("it's \"x\"\\", #""it's \"x\"\\""#), ("bücher 漢字", #""bücher 漢字""#),
        ("a\nb\tc\u{0}", #""a\nb\tc\0""#), ("\u{1B}[2J", #""\u{1B}[2J""#), ("\u{9B}2J\u{85}", #""\u{009B}2J\u{0085}""#),
        ("\u{202E}gpj", #""\u{202E}gpj""#), ("a\u{2028}b\u{2029}", #""a\u{2028}b\u{2029}""#),
    ])
    func `quoted() adds quotes and escapes control and text direction characters`(_ text: String, _ expected: String) {
        #expect(text.quoted() == expected)
    }

    @Test func `quoted() cuts a long text and appends its size in bytes`() {
        #expect(String(repeating: "x", count: 80).quoted() == "\"\(String(repeating: "x", count: 80))\"")
        let long = String(repeating: "x", count: 81).quoted()
        #expect(long == "\"\(String(repeating: "x", count: 80))\"… (81 bytes)")
        #expect("abc".quoted(limit: 2) == #""ab"… (3 bytes)"#)
    }

    @Test func `quoted() shortens a letter that has thousands of combining marks`() {
        let tower = "a" + String(repeating: "\u{301}", count: 32_000)
        #expect(tower.quoted().utf8.count < 400)
    }

    @Test(arguments: [
        ("broker.example", "broker.example"), ("mqtts://ada:hunter2@b.example", "<hidden>@b.example"),
        ("ada:hunter2@b.example", "<hidden>@b.example"), ("ada:p@ss@b", "<hidden>@b"), ("/run/a@b", "/run/a@b"),
        ("@abstract", "@abstract"), ("", ""),
    ])
    func `the shown form of a host hides a user name and password before it`(_ host: String, _ expected: String) {
        #expect(host.shownHost == expected)
    }
}
