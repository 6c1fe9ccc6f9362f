/// A text as cells of a terminal. Whoever wrote it: nothing in it reaches the terminal as a command.
struct GlyphText: Hashable, Sendable {
    private(set) var glyphs: [Glyph] = []
    /// How many cells it covers.
    private(set) var width = 0

    private init() {}

    /// Takes a text apart; what cannot be shown is escaped, as in `\u{1B}`, also the end of a line.
    init(_ text: String) {
        glyphs.reserveCapacity(text.utf8.count)
        for scalar in text.unicodeScalars { append(scalar) }
    }

    private mutating func append(_ scalar: Unicode.Scalar) {
        let shown =
            scalar.isASCII && scalar.value >= 0x20 && scalar.value != 0x7F ? String(scalar) : scalar.terminalText
        guard shown.unicodeScalars.count == 1 else {
            for scalar in shown.unicodeScalars { append(Glyph(text: String(scalar), width: 1)) }
            return
        }
        let width = scalar.terminalWidth
        if width > 0 { return append(Glyph(text: shown, width: width)) }
        // A mark without a character has a space to stand on.
        let last = glyphs.popLast() ?? .space
        if glyphs.isEmpty, last == .space { self.width = 1 }
        let isFull = last.text.unicodeScalars.count >= Glyph.scalarLimit
        glyphs.append(isFull ? last : Glyph(text: last.text + shown, width: last.width))
    }

    private mutating func append(_ glyph: Glyph) {
        glyphs.append(glyph)
        width += glyph.width
    }

    /// The text as it is shown.
    var string: String { glyphs.map(\.text).joined() }

    /// As much of its beginning as fits.
    func prefix(width limit: Int) -> GlyphText {
        if width <= limit { return self }
        var text = GlyphText()
        for glyph in glyphs {
            if text.width + glyph.width > limit { break }
            text.append(glyph)
        }
        return text
    }

    /// As much of its end as fits.
    func suffix(width limit: Int) -> GlyphText {
        var left = width
        var start = 0
        while left > limit, start < glyphs.count {
            left -= glyphs[start].width
            start += 1
        }
        return GlyphText(glyphs[start...])
    }

    /// The whole text if it fits, or its beginning and `…`.
    func shortened(toWidth limit: Int) -> GlyphText {
        if width <= limit { return self }
        var text = prefix(width: max(0, limit - 1))
        if limit > 0 { text.append(Glyph(text: "…", width: 1)) }
        return text
    }

    /// Lines that are not wider than this, broken between words where that is possible.
    ///
    /// - Parameters:
    ///   - first: The width of the first line; below 1 it is 1.
    ///   - others: The width of those behind it; that of the first by default.
    /// - Returns: At least one line.
    func lines(width first: Int, others: Int? = nil) -> [GlyphText] {
        var lines: [GlyphText] = []
        var rest = glyphs[...]
        var limit = max(1, first)
        while true {
            let end = Self.lineEnd(of: rest, limit)
            lines.append(GlyphText(rest[rest.startIndex..<end]))
            rest = rest[end...]
            // The space at which a line was broken is on neither.
            if !rest.isEmpty { rest = rest.drop(while: { $0 == .space }) }
            if rest.isEmpty { return lines }
            limit = max(1, others ?? first)
        }
    }

    private init(_ glyphs: ArraySlice<Glyph>) { for glyph in glyphs { append(glyph) } }

    /// Where the first line of these ends: before the word that does not fit, or within a word that is too long.
    private static func lineEnd(of glyphs: ArraySlice<Glyph>, _ limit: Int) -> Int {
        var width = 0
        var end = glyphs.startIndex
        while end < glyphs.endIndex, width + glyphs[end].width <= limit {
            width += glyphs[end].width
            end += 1
        }
        if end == glyphs.endIndex || glyphs[end] == .space { return end }
        // At least one, so that a wide character on a terminal with one column is an end, too.
        if end == glyphs.startIndex { return end + 1 }
        guard let space = glyphs[..<end].lastIndex(of: .space), space > glyphs.startIndex else { return end }
        return space
    }
}
