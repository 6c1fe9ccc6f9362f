import Foundation
import TestSupport
import Testing

@testable import CourierCommands

struct GlyphTextTests {
    @Test(arguments: [
        ("plain", "plain", 5), ("日本", "日本", 4), ("e\u{301}", "e\u{301}", 1), ("😀!", "😀!", 3), ("a\tb", "a b", 3),
        ("\u{1B}[2J", "\\u{1B}[2J", 9), ("a\nb\r", "a\\nb\\r", 6), ("\u{9B}2J", "\\u{009B}2J", 10),
        ("\u{202E}abc", "\\u{202E}abc", 11), ("\u{2028}", "\\u{2028}", 8), ("\u{7F}", "\\u{7F}", 6),
        // A family emoji is shown as its members. A flag is two regional letters.
        ("👨\u{200D}👩\u{200D}👧", "👨👩👧", 6), ("🇩🇪", "🇩🇪", 2), ("\u{301}x", " \u{301}x", 2), ("한", "한", 2),
        ("\u{1112}\u{1161}\u{11AB}", "\u{1112}\u{1161}\u{11AB}", 2), ("❤\u{FE0F}", "❤", 1),
    ])
    func `text is converted to visible glyphs with the expected terminal width`(
        text: String, shown: String, width: Int
    ) {
        let glyphs = GlyphText(text)
        #expect(glyphs.string.unicodeScalars.elementsEqual(shown.unicodeScalars), "\(glyphs.string)")
        #expect(glyphs.width == width)
        #expect(glyphs.glyphs.reduce(0) { $0 + $1.width } == width)
    }

    @Test func `GlyphText contains no control character for any Unicode scalar`() {
        // The other planes contain only ideographs and private use characters.
        for value in [UInt32(0)...0x1FFFF, 0xE0000...0xE0FFF].joined() {
            guard let scalar = Unicode.Scalar(value) else { continue }
            let isCommand = GlyphText(String(scalar)).string.unicodeScalars.contains {
                $0.value < 0x20 || (0x7F...0x9F).contains($0.value) || $0.properties.generalCategory == .format
            }
            if isCommand { Issue.record("\(scalar.escaped(asASCII: true))") }
        }
    }

    @Test func `the terminal width of each character equals Python's Unicode table`() throws {
        // Python has the East Asian widths of some Unicode version. Only characters that it knows are compared.
        let script = """
            import unicodedata as u
            last = None
            for c in range(0x300, 0x30000):
                k, jamo = u.category(chr(c)), 0x1160 <= c <= 0x11FF or 0xD7B0 <= c <= 0xD7FB
                known = k[0] != 'C' and k not in ('Mn', 'Me', 'Zl', 'Zp') and not jamo
                width = (2 if u.east_asian_width(chr(c)) in 'WF' else 1) if known else 0
                if width != last: print(c, width)
                last = width
            print(0x30000, 0)
            """
        let table = String(decoding: try ChildProcess.run(["python3", "-c", script]), as: UTF8.self)
            .split(separator: "\n").map { line in line.split(separator: " ").compactMap { Int($0) } }
        var comparedCount = 0
        var others: [Int] = []
        for (run, next) in zip(table, table.dropFirst()) where run[1] > 0 {
            for value in run[0]..<next[0] {
                comparedCount += 1
                if let scalar = Unicode.Scalar(UInt32(value)), scalar.terminalWidth != run[1] { others.append(value) }
            }
        }
        #expect(others == [] && comparedCount > 100_000)
    }

    @Test func `a character with 1000 combining marks is cut to the maximum number of Unicode scalars`() {
        let text = GlyphText("a" + String(repeating: "\u{301}", count: 1_000) + "b")
        #expect(text.width == 2 && text.glyphs[0].text.unicodeScalars.count == Glyph.scalarLimit)
    }

    @Test(arguments: [
        ("one two three", 7, ["one two", "three"]), ("one two three", 8, ["one two", "three"]),
        ("one two three", 100, ["one two three"]), ("abcdefgh", 3, ["abc", "def", "gh"]), ("", 5, [""]),
        ("a   b", 2, ["a ", "b"]), ("日本語", 3, ["日", "本", "語"]), ("日", 1, ["日"]), ("  x", 5, ["  x"]),
        ("x longword", 4, ["x", "long", "word"]),
    ])
    func `lines are broken between words, or within a word that is too long`(text: String, width: Int, lines: [String])
    {
        #expect(GlyphText(text).lines(width: width).map(\.string) == lines)
    }

    @Test(arguments: SeededGenerator.seeds)
    func `after line breaking, each line fits its width, and only spaces were removed`(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let alphabet = Array("ab  é日😀\u{301}\t")
        let text = GlyphText(
            String((0..<200).map { _ in generator.pick(alphabet) }))
        let (first, others) = (Int.random(in: 1...30, using: &generator), Int.random(in: 2...30, using: &generator))
        let lines = text.lines(width: first, others: others)
        for (number, line) in lines.enumerated() { #expect(line.width <= max(2, number == 0 ? first : others)) }
        let visible: ([Glyph]) -> [Glyph] = { $0.filter { $0 != .space } }
        #expect(visible(lines.flatMap(\.glyphs)) == visible(text.glyphs))
    }

    @Test func `prefix(), suffix() and shortened() cut text only between characters`() {
        let text = GlyphText("a日b")
        #expect((0...5).map { text.prefix(width: $0).string } == ["", "a", "a", "a日", "a日b", "a日b"])
        #expect((0...5).map { text.suffix(width: $0).string } == ["", "b", "b", "日b", "a日b", "a日b"])
        #expect((0...4).map { text.shortened(toWidth: $0).string } == ["", "…", "a…", "a…", "a日b"])
    }
}
