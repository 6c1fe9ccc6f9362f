import Testing

@testable import CourierCommands

struct JSONValueTests {
    private static func rewritten(_ text: String) -> String? {
        guard let value = JSONValue(parsing: Array(text.utf8)) else { return nil }
        var bytes: [UInt8] = []
        value.write(isPretty: false, into: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test(arguments: [
        ("null", "null"), (" true ", "true"), ("false", "false"), ("0", "0"), ("-0", "0"), ("12", "12"),
        ("1.0", "1"), ("1e2", "100"), ("0.1", "0.1"), ("1E-7", "1e-07"), ("12345678901", "12345678901"),
        ("3.141592653589793", "3.1415926535897931"), ("\"\"", "\"\""), (#""\ud83d\ude00""#, "\"😀\""),
        (#""\b\f\n\r\t\"\\\/""#, #""\b\f\n\r\t\"\\/""#), ("[]", "[]"), ("[ 1 , [ ] ]", "[1,[]]"), ("{}", "{}"),
        (#"{ "a" : 1 , "a" : 2 }"#, #"{"a":1,"a":2}"#),
    ])
    func `parsed JSON is printed in the same format as by the cJSON library`(text: String, again: String) {
        #expect(Self.rewritten(text) == again)
    }

    @Test(arguments: [
        "", " ", "nul", "01x", "1.", ".5", "+1", "-", "1e", "\"", "\"\n\"", #""\x""#, #""\u12""#, #""\ud83d""#,
        #""\ude00""#, "[", "[1", "[1,", "[1,]", "{", "{\"a\"", "{\"a\":", "{\"a\":1,", "{a:1}", "{1:1}", "1 2",
        "[1]]", "1e999", #"{"a":1,}"#,
    ])
    func `parsing invalid JSON returns nil`(text: String) {
        #expect(Self.rewritten(text) == nil)
    }

    @Test func `parsing JSON that is nested deeper than the limit returns nil`() {
        let deep = JSONValue.depthLimit
        #expect(Self.rewritten(String(repeating: "[", count: deep) + String(repeating: "]", count: deep)) != nil)
        #expect(Self.rewritten(String(repeating: "[", count: 100_000)) == nil)
        #expect(
            Self.rewritten(String(repeating: "[", count: deep + 1) + String(repeating: "]", count: deep + 1)) == nil)
    }

    @Test func `invalid UTF-8 in a JSON string is printed unchanged`() {
        var bytes: [UInt8] = []
        JSONValue(parsing: [0x22, 0xFF, 0x22])?.write(isPretty: false, into: &bytes)
        #expect(bytes == [0x22, 0xFF, 0x22])
    }
}
