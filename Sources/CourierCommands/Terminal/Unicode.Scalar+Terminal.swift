extension Unicode.Scalar {
    /// How many cells a terminal gives it: 0 for a mark on the character before, 2 for a wide character, else 1.
    ///
    /// Terminals do not agree about each of them; ``FramePainter`` therefore trusts the width of ASCII only.
    var terminalWidth: Int {
        if value < 0x300 { return 1 }
        // Vowels and final consonants of Hangul stand in the syllable that a leading consonant began.
        if (0x1160...0x11FF).contains(value) || (0xD7B0...0xD7FB).contains(value) { return 0 }
        switch properties.generalCategory {
        case .nonspacingMark, .enclosingMark: return 0
        default: return isWide || properties.isEmojiPresentation && !isRegionalIndicator ? 2 : 1
        }
    }

    /// Half of a flag, which is one cell wide.
    private var isRegionalIndicator: Bool { (0x1F1E6...0x1F1FF).contains(value) }

    /// Whether Unicode's annex 11 calls it wide or full width, but for emoji, which have a property of their own.
    private var isWide: Bool {
        switch value {
        case 0x1100...0x115F, 0x2329...0x232A, 0x2E80...0x303E, 0x3041...0x3247, 0x3250...0x4DBF, 0x4E00...0xA4CF,
            0xA960...0xA97F, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE10...0xFE1F, 0xFE30...0xFE6F, 0xFF01...0xFF60,
            0xFFE0...0xFFE6, 0x16FE0...0x18DFF, 0x1AFF0...0x1B2FF, 0x1F200...0x1F265, 0x20000...0x3FFFD:
            true
        default: false
        }
    }

    /// What is shown of it: itself, an escape for what would play with the terminal or the direction of the text, or
    /// nothing for what only says how its neighbours are joined.
    var terminalText: String {
        switch self {
        case "\t": return " "
        case "\u{200C}", "\u{200D}", "\u{FE0E}", "\u{FE0F}": return ""
        default: break
        }
        return terminalEscape ?? String(self)
    }

    /// An escape for what would end the line, or play with the terminal or the direction of the text; `nil` for the rest.
    var terminalEscape: String? {
        switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: escaped(asASCII: true)
        default: nil
        }
    }
}
