/// A line of text that the user types: its text, the cursor position, and the history of earlier lines.
struct InputLine: Sendable {
    /// The maximum number of lines in the history.
    static let historyLimit = 200

    /// The maximum length of the line in bytes of UTF-8.
    let byteLimit: Int
    private var characters: [Character] = []
    /// The cursor position: the index of the character after the cursor.
    private(set) var cursor = 0
    /// Earlier lines, oldest first.
    private var history: [String] = []
    /// The index of the history line that is shown, or `nil` while the new line is shown.
    private var shownLine: Int?
    /// The text of the new line while a history line is shown.
    private var draft = ""

    /// Creates an empty line.
    ///
    /// - Parameter byteLimit: The maximum length in bytes of UTF-8; 4,000 by default.
    init(byteLimit: Int = 4_000) { self.byteLimit = byteLimit }

    var text: String { String(characters) }
    var isEmpty: Bool { characters.isEmpty }

    /// The text before the cursor.
    var textBeforeCursor: String { String(characters[..<cursor]) }

    /// Returns the line, adds it to the history, and starts a new line.
    mutating func take() -> String {
        let line = text
        if !line.isEmpty, history.last != line { history.append(line) }
        if history.count > Self.historyLimit { history.removeFirst() }
        shownLine = nil
        draft = ""
        set("")
        return line
    }

    /// Replaces the text and moves the cursor to its end. A text that is too long is cut off.
    mutating func set(_ text: String) {
        set("", "")
        insert(text)
    }

    /// Inserts text at the cursor, as far as the byte limit allows. Newlines and tabs become spaces, and other control
    /// characters are removed.
    mutating func insert(_ text: String) {
        var before = textBeforeCursor
        let after = String(characters[cursor...])
        for character in text {
            let shown = character.isNewline || character == "\t" ? " " : character
            if shown.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) { continue }
            guard before.utf8.count + after.utf8.count + shown.utf8.count <= byteLimit else { break }
            before.append(shown)
        }
        set(before, after)
    }

    /// Edits the line according to a key, with the key bindings that shells use.
    ///
    /// - Returns: `false` if the key has no meaning in an input line.
    mutating func handle(_ key: Key) -> Bool {
        switch key {
        case .character(let character): insert(String(character))
        case .pasted(let text): insert(text)
        case .left, .control("b"): cursor = max(0, cursor - 1)
        case .right, .control("f"): cursor = min(characters.count, cursor + 1)
        case .home, .control("a"): cursor = 0
        case .end, .control("e"): cursor = characters.count
        case .modified(.control, .left), .modified(.alt, .left), .modified(.alt, .character("b")): cursor = wordStart
        case .modified(.control, .right), .modified(.alt, .right), .modified(.alt, .character("f")): cursor = wordEnd
        case .backspace: remove(max(0, cursor - 1)..<cursor)
        case .delete, .control("d"): remove(cursor..<min(characters.count, cursor + 1))
        case .control("u"): remove(0..<cursor)
        case .control("k"): remove(cursor..<characters.count)
        case .control("w"), .modified(.alt, .backspace): remove(wordStart..<cursor)
        case .up: show((shownLine ?? history.count) - 1)
        case .down: if let shownLine { show(shownLine + 1) }
        default: return false
        }
        return true
    }

    /// Returns the part of the line around the cursor that fits into this width, and the cell of the cursor in that
    /// part.
    func view(width: Int) -> (text: GlyphText, cursor: Int) {
        // Reserve one cell for the cursor after the last character.
        let before = GlyphText(textBeforeCursor).suffix(width: max(0, width - 1))
        let after = GlyphText(String(characters[cursor...]))
        let text = GlyphText(before.string + after.string).prefix(width: max(0, width))
        return (text, before.width)
    }

    // MARK: Helpers

    private var wordStart: Int {
        var place = cursor
        while place > 0, characters[place - 1].isWhitespace { place -= 1 }
        while place > 0, !characters[place - 1].isWhitespace { place -= 1 }
        return place
    }

    private var wordEnd: Int {
        var place = cursor
        while place < characters.count, characters[place].isWhitespace { place += 1 }
        while place < characters.count, !characters[place].isWhitespace { place += 1 }
        return place
    }

    /// Sets the text before and after the cursor. Characters that meet at the cursor may merge into one, such as a
    /// letter and an accent.
    private mutating func set(_ before: String, _ after: String) {
        characters = Array(before + after)
        cursor = min(before.count, characters.count)
    }

    private mutating func remove(_ range: Range<Int>) {
        set(String(characters[..<range.lowerBound]), String(characters[range.upperBound...]))
    }

    private mutating func show(_ line: Int) {
        guard line >= 0, line <= history.count else { return }
        if shownLine == nil { draft = text }
        shownLine = line < history.count ? line : nil
        set(line < history.count ? history[line] : draft)
    }
}
