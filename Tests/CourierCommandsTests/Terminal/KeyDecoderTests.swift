import TestSupport
import Testing

@testable import CourierCommands

struct KeyDecoderTests {
    /// Decodes bytes that arrive together, and then the silence after them.
    private static func keys(_ text: String) -> [Key] { keys(Array(text.utf8)) }

    private static func keys(_ bytes: [UInt8]) -> [Key] {
        var decoder = KeyDecoder()
        let keys = decoder.decode(bytes)
        return decoder.silenceLimit == nil ? keys : keys + decoder.silence()
    }

    @Test(
        arguments: [
            ("a\u{E9}\u{4F60}\u{1F600}", [.character("a"), .character("é"), .character("你"), .character("😀")]),
            ("\r", [.enter]), ("\n", [.enter]), ("\t", [.tab]), ("\u{7F}", [.backspace]), ("\u{08}", [.backspace]),
            ("\u{03}", [.control("c")]), ("\u{1A}", [.control("z")]), ("\u{1B}", [.escape]),
            ("\u{1B}b", [.modified(.alt, .character("b"))]), ("\u{1B}\u{7F}", [.modified(.alt, .backspace)]),
            ("\u{1B}[A\u{1B}[B\u{1B}OC\u{1B}OD", [.up, .down, .right, .left]),
            ("\u{1B}[H\u{1B}[F\u{1B}[1~\u{1B}[4~\u{1B}[7~\u{1B}[8~", [.home, .end, .home, .end, .home, .end]),
            ("\u{1B}[2~\u{1B}[3~\u{1B}[5~\u{1B}[6~", [.insert, .delete, .pageUp, .pageDown]),
            ("\u{1B}OP\u{1B}[15~\u{1B}[17~\u{1B}[24~\u{1B}[[C", [1, 5, 6, 12, 3].map { .function($0) }),
            ("\u{1B}[Z", [.modified(.shift, .tab)]), ("\u{1B}[1;5D", [.modified(.control, .left)]),
            ("\u{1B}[3;2~", [.modified(.shift, .delete)]), ("\u{1B}[1;8A", [.modified([.shift, .alt, .control], .up)]),
            ("\u{1B}[1;-9223372036854775808A\u{1B}[1;0A", [.up, .up]),
            ("\u{1B}[1;9223372036854775807A", [.modified([.shift, .alt, .control], .up)]),
            ("\u{1B}\u{1B}[A", [.escape, .up]),
        ] as [(String, [Key])])
    func `the bytes that terminals send are decoded as keys`(text: String, expected: [Key]) {
        #expect(Self.keys(text) == expected)
    }

    @Test func `the decoded keys are the same if their bytes arrive in pieces`() {
        let text = "é你😀\u{1B}[1;5D\u{1B}[200~two\rlines\u{1B}[201~x\u{1B}OP"
        let expected = Self.keys(text)
        #expect(expected.count == 7)
        let bytes = Array(text.utf8)
        for split in bytes.indices {
            var decoder = KeyDecoder()
            #expect(decoder.decode(bytes[..<split]) + decoder.decode(bytes[split...]) == expected, "\(split)")
        }
        var decoder = KeyDecoder()
        #expect(bytes.flatMap { decoder.decode([$0]) } == expected)
    }

    @Test(
        arguments: [
            ("a\u{1B}[200~x\r\ny\rz\u{1B}[201~b", [.character("a"), .pasted("x\ny\nz"), .character("b")]),
            ("\u{1B}[200~\u{1B}[A\u{3}\u{1B}[201~", [.pasted("\u{1B}[A\u{3}")]),
            ("\u{1B}[200~\u{1B}[201\u{1B}[201~", [.pasted("\u{1B}[201")]), ("\u{1B}[200~\u{1B}[201~", []),
            // A paste without an end mark ends after the silence.
            ("\u{1B}[200~half", [.pasted("half")]),
        ] as [(String, [Key])])
    func `pasted text is decoded as one key event, whatever the text contains`(text: String, expected: [Key]) {
        #expect(Self.keys(text) == expected)
    }

    @Test func `a pasted text above the size limit is cut, and the next key is decoded`() {
        let text = String(repeating: "x", count: KeyDecoder.pasteLimit + 1_000)
        let keys = Self.keys("\u{1B}[200~\(text)\u{1B}[201~y")
        #expect(keys == [.pasted(String(text.prefix(KeyDecoder.pasteLimit))), .character("y")])
    }

    @Test(arguments: [
        "\u{1B}[?1;2c", "\u{1B}]0;title\u{07}", "\u{1B}P1$r\u{1B}\\", "\u{1B}[99~", "\u{1B}[1;5x", "\u{1B}[",
        "\u{1B}[\(String(repeating: "1", count: KeyDecoder.sequenceLimit))",
    ])
    func `unknown escape sequences are ignored, and the next key is decoded`(text: String) {
        #expect(Self.keys(text).isEmpty)
        var decoder = KeyDecoder()
        _ = decoder.decode(text.utf8)
        _ = decoder.silence()
        #expect(decoder.decode("a".utf8) == [.character("a")])
    }

    @Test(
        arguments: [
            ([0xFF], 1), ([0xC0, 0x80], 2), ([0xE4, 0xBD], 1), ([0xE4, 0x61], 2), ([0xED, 0xA0, 0x80], 1), ([0x80], 1),
        ] as [([UInt8], Int)])
    func `invalid UTF-8 is decoded as replacement characters`(bytes: [UInt8], count: Int) {
        let keys = Self.keys(bytes)
        #expect(keys.count == count && keys.first == .character("\u{FFFD}"), "\(keys)")
    }

    @Test func `a control character of two UTF-8 bytes is ignored`() {
        #expect(Self.keys("\u{9B}31ma") == [.character("3"), .character("1"), .character("m"), .character("a")])
    }

    @Test func `the decoder waits for a time limit only while an escape sequence or a paste is incomplete`() {
        var decoder = KeyDecoder()
        #expect(decoder.silenceLimit == nil)
        _ = decoder.decode([0x1B])
        #expect(decoder.silenceLimit == KeyDecoder.escapeTime)
        _ = decoder.decode(Array("[200~".utf8))
        #expect(decoder.silenceLimit == KeyDecoder.pasteTime)
        _ = decoder.decode(Array("\u{1B}[201~".utf8))
        #expect(decoder.silenceLimit == nil)
    }

    @Test(arguments: SeededGenerator.seeds)
    func `random bytes produce no control characters, and the next key is decoded`(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var decoder = KeyDecoder()
        // Bytes with a meaning in escape sequences are frequent.
        let likely = Array("\u{1B}[O~;-0123456789AM]P\\\u{07}\r".utf8)
        for _ in 0..<2_000 {
            let byte = Bool.random(using: &generator) ? likely.randomElement(using: &generator) : nil
            for key in decoder.decode([byte ?? UInt8.random(in: 0...255, using: &generator)]) {
                guard case .character(let character) = key else { continue }
                #expect(character.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control })
            }
        }
        _ = decoder.silence()
        #expect(decoder.decode("a".utf8) == [.character("a")])
    }
}
