/// A line that is typed: its text, the cursor in it, and the lines before it.
struct InputLine: Sendable {
    /// How many earlier lines are remembered.
    static let historyLimit = 200

    /// How many bytes of UTF-8 it may have.
    let byteLimit: Int
    private var characters: [Character] = []
    /// Before which character the cursor is.
    private(set) var cursor = 0
    /// Earlier lines, the last one at the end.
    private var history: [String] = []
    /// Which of them is shown; `nil` for the line that is new.
    private var shownLine: Int?
    /// The new line while an earlier one is shown.
    private var draft = ""

    /// An empty line.
    ///
    /// - Parameter byteLimit: How many bytes of UTF-8 it may have; 4,000 by default.
    init(byteLimit: Int = 4_000) { self.byteLimit = byteLimit }

    var text: String { String(characters) }
    var isEmpty: Bool { characters.isEmpty }

    /// What stands before the cursor.
    var textBeforeCursor: String { String(characters[..<cursor]) }

    /// Takes the line as it is, remembers it, and begins a new one.
    mutating func take() -> String {
        let line = text
        if !line.isEmpty, history.last != line { history.append(line) }
        if history.count > Self.historyLimit { history.removeFirst() }
        shownLine = nil
        draft = ""
        set("")
        return line
    }

    /// Changes the line; the cursor is then at its end. What is too long is cut.
    mutating func set(_ text: String) {
        set("", "")
        insert(text)
    }

    /// Writes at the cursor, as much as there is room for; ends of lines become spaces, control characters are left out.
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

    /// Does what a key means in a line of text, as shells have it.
    ///
    /// - Returns: `false` for a key that means nothing here.
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

    /// As much of the line around the cursor as fits into so many cells, and in which of them the cursor is.
    func view(width: Int) -> (text: GlyphText, cursor: Int) {
        // The cursor behind the last character needs a cell, too.
        let before = GlyphText(textBeforeCursor).suffix(width: max(0, width - 1))
        let after = GlyphText(String(characters[cursor...]))
        let text = GlyphText(before.string + after.string).prefix(width: max(0, width))
        return (text, before.width)
    }

    // MARK: Parts

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

    /// Takes what stands before the cursor and behind it. Characters that come to stand beside each other may become one,
    /// as a letter and its accent do.
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
