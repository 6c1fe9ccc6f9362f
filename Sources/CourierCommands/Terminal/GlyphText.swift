/// A text as a list of glyphs. Control characters are escaped, so that untrusted text cannot send commands to the
/// terminal.
struct GlyphText: Hashable, Sendable {
    private(set) var glyphs: [Glyph] = []
    /// The number of terminal cells that the text covers.
    private(set) var width = 0

    private init() {}

    /// Splits a text into glyphs. Characters that cannot be shown, such as newlines, are escaped as in `\u{1B}`.
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
        // A combining mark at the start of the text is attached to a space.
        let last = glyphs.popLast() ?? .space
        if glyphs.isEmpty, last == .space { self.width = 1 }
        let isFull = last.text.unicodeScalars.count >= Glyph.scalarLimit
        glyphs.append(isFull ? last : Glyph(text: last.text + shown, width: last.width))
    }

    private mutating func append(_ glyph: Glyph) {
        glyphs.append(glyph)
        width += glyph.width
    }

    /// The text as it appears on the terminal, with escapes.
    var string: String { glyphs.map(\.text).joined() }

    /// Returns the longest beginning of the text that fits into this number of cells.
    func prefix(width limit: Int) -> GlyphText {
        if width <= limit { return self }
        var text = GlyphText()
        for glyph in glyphs {
            if text.width + glyph.width > limit { break }
            text.append(glyph)
        }
        return text
    }

    /// Returns the longest end of the text that fits into this number of cells.
    func suffix(width limit: Int) -> GlyphText {
        var left = width
        var start = 0
        while left > limit, start < glyphs.count {
            left -= glyphs[start].width
            start += 1
        }
        return GlyphText(glyphs[start...])
    }

    /// Returns the whole text if it fits, or otherwise its beginning and `…`.
    func shortened(toWidth limit: Int) -> GlyphText {
        if width <= limit { return self }
        var text = prefix(width: max(0, limit - 1))
        if limit > 0 { text.append(Glyph(text: "…", width: 1)) }
        return text
    }

    /// Breaks the text into lines of at most this width, between words where possible.
    ///
    /// - Parameters:
    ///   - first: The width of the first line. Values below 1 count as 1.
    ///   - others: The width of the following lines. By default, it is the same as `first`.
    /// - Returns: At least one line.
    func lines(width first: Int, others: Int? = nil) -> [GlyphText] {
        var lines: [GlyphText] = []
        var rest = glyphs[...]
        var limit = max(1, first)
        while true {
            let end = Self.lineEnd(of: rest, limit)
            lines.append(GlyphText(rest[rest.startIndex..<end]))
            rest = rest[end...]
            // The spaces at a line break belong to neither line.
            if !rest.isEmpty { rest = rest.drop(while: { $0 == .space }) }
            if rest.isEmpty { return lines }
            limit = max(1, others ?? first)
        }
    }

    private init(_ glyphs: ArraySlice<Glyph>) { for glyph in glyphs { append(glyph) } }

    /// Returns the end of the first line: before the word that does not fit, or inside a word that is longer than a
    /// line.
    private static func lineEnd(of glyphs: ArraySlice<Glyph>, _ limit: Int) -> Int {
        var width = 0
        var end = glyphs.startIndex
        while end < glyphs.endIndex, width + glyphs[end].width <= limit {
            width += glyphs[end].width
            end += 1
        }
        if end == glyphs.endIndex || glyphs[end] == .space { return end }
        // A line has at least one glyph. Otherwise a wide character in a terminal with one column would cause an
        // endless loop.
        if end == glyphs.startIndex { return end + 1 }
        guard let space = glyphs[..<end].lastIndex(of: .space), space > glyphs.startIndex else { return end }
        return space
    }
}
