/// What a terminal is to show: a character and its style for each cell, and the place of the cursor.
///
/// ```swift
/// var frame = Frame(size)
/// frame.fill(row: 0, style: .reversed)
/// frame.put("lobby", row: 0, column: 1, style: .reversed)
/// frame.cursor = Frame.Place(row: size.rows - 1, column: 2)
/// ```
///
/// What lies outside is left out, so a view may be drawn at any size.
struct Frame: Hashable, Sendable {
    struct Place: Hashable, Sendable {
        var row: Int
        var column: Int
    }

    struct Cell: Hashable, Sendable {
        static let blank = Cell(text: " ", width: 1, style: .plain)

        /// Never a control character; empty for the right half of a wide character.
        fileprivate(set) var text: String
        /// 1, 2 for the left half of a wide character, 0 for its right half.
        fileprivate(set) var width: Int
        fileprivate(set) var style: TextStyle
    }

    let size: TerminalSize
    /// Row by row.
    private(set) var cells: [Cell]
    /// Where the cursor is; `nil` hides it.
    var cursor: Place?

    /// An empty one.
    init(_ size: TerminalSize) {
        self.size = size
        cells = Array(repeating: .blank, count: size.columns * size.rows)
    }

    subscript(row: Int, column: Int) -> Cell { cells[row * size.columns + column] }

    /// Writes a text, as much of it as there is room for.
    ///
    /// - Parameters:
    ///   - text: The text.
    ///   - row: Its row, the first is 0.
    ///   - column: Where it begins, the first column is 0.
    ///   - limit: How many cells it may cover; up to the edge by default.
    ///   - style: How it looks.
    /// - Returns: The column behind it.
    @discardableResult
    mutating func put(
        _ text: GlyphText, row: Int, column: Int, width limit: Int = .max, style: TextStyle = .plain
    ) -> Int {
        let column = max(0, column)
        guard (0..<size.rows).contains(row), column < size.columns else { return column }
        let end = column + min(max(0, limit), size.columns - column)
        var next = column
        for glyph in text.glyphs {
            guard next + glyph.width <= end else { break }
            set(Cell(text: glyph.text, width: glyph.width, style: style), row, next)
            next += glyph.width
        }
        return next
    }

    /// The same for a text that was not taken apart.
    @discardableResult
    mutating func put(
        _ text: String, row: Int, column: Int, width limit: Int = .max, style: TextStyle = .plain
    ) -> Int {
        put(GlyphText(text), row: row, column: column, width: limit, style: style)
    }

    /// Makes a row blank, or some of its columns.
    mutating func fill(row: Int, columns: Range<Int>? = nil, style: TextStyle = .plain) {
        guard (0..<size.rows).contains(row) else { return }
        for column in (columns ?? 0..<size.columns).clamped(to: 0..<size.columns) {
            set(Cell(text: " ", width: 1, style: style), row, column)
        }
    }

    /// The text of a row, without the blanks at its end.
    func line(_ row: Int) -> String {
        var line = cells[(row * size.columns)..<((row + 1) * size.columns)].map(\.text).joined()
        while line.last == " " { line.removeLast() }
        return line
    }

    /// All rows as text.
    var lines: [String] { (0..<size.rows).map { line($0) } }

    private mutating func set(_ cell: Cell, _ row: Int, _ column: Int) {
        let index = row * size.columns + column
        let end = index + max(1, cell.width)
        // Half of a wide character is no character.
        if cells[index].width == 0 { cells[index - 1] = Cell(text: " ", width: 1, style: cells[index - 1].style) }
        if cells[end - 1].width == 2 { cells[end] = Cell(text: " ", width: 1, style: cells[end].style) }
        cells[index] = cell
        if cell.width == 2 { cells[index + 1] = Cell(text: "", width: 0, style: cell.style) }
    }
}
