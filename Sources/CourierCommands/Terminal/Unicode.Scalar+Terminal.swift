extension Unicode.Scalar {
    /// The number of terminal cells of this scalar: 0 for a combining mark, 2 for a wide character, otherwise 1.
    ///
    /// Terminals disagree about the width of some scalars. ``FramePainter`` therefore relies on the width of ASCII
    /// only.
    var terminalWidth: Int {
        if value < 0x300 { return 1 }
        // Hangul vowels and final consonants are drawn inside the syllable of the preceding leading consonant.
        if (0x1160...0x11FF).contains(value) || (0xD7B0...0xD7FB).contains(value) { return 0 }
        switch properties.generalCategory {
        case .nonspacingMark, .enclosingMark: return 0
        default: return isWide || properties.isEmojiPresentation && !isRegionalIndicator ? 2 : 1
        }
    }

    /// True for one half of a flag emoji. Each half is one cell wide.
    private var isRegionalIndicator: Bool { (0x1F1E6...0x1F1FF).contains(value) }

    /// True if Unicode Annex #11 lists the scalar as wide or full-width. Emoji are excluded, because `terminalWidth`
    /// checks another property for them.
    private var isWide: Bool {
        switch value {
        case 0x1100...0x115F, 0x2329...0x232A, 0x2E80...0x303E, 0x3041...0x3247, 0x3250...0x4DBF, 0x4E00...0xA4CF,
            0xA960...0xA97F, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE10...0xFE1F, 0xFE30...0xFE6F, 0xFF01...0xFF60,
            0xFFE0...0xFFE6, 0x16FE0...0x18DFF, 0x1AFF0...0x1B2FF, 0x1F200...0x1F265, 0x20000...0x3FFFD:
            true
        default: false
        }
    }

    /// The text that the terminal shows for this scalar. A tab becomes a space. Other control characters and direction
    /// characters become an escape. Joiners and variation selectors become an empty string.
    var terminalText: String {
        switch self {
        case "\t": return " "
        case "\u{200C}", "\u{200D}", "\u{FE0E}", "\u{FE0F}": return ""
        default: break
        }
        return terminalEscape ?? String(self)
    }

    /// An escape for scalars that end a line, control the terminal or change the text direction; `nil` for all other
    /// scalars.
    var terminalEscape: String? {
        switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: escaped(asASCII: true)
        default: nil
        }
    }
}
