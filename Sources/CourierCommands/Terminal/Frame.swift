/// The content of the terminal screen: a character and its style for each cell, and the cursor position.
///
/// ```swift
/// var frame = Frame(size)
/// frame.fill(row: 0, style: .reversed)
/// frame.put("lobby", row: 0, column: 1, style: .reversed)
/// frame.cursor = Frame.Place(row: size.rows - 1, column: 2)
/// ```
///
/// Text outside the frame is cut off, so that a view can draw into a frame of any size.
struct Frame: Hashable, Sendable {
    struct Place: Hashable, Sendable {
        var row: Int
        var column: Int
    }

    struct Cell: Hashable, Sendable {
        static let blank = Cell(text: " ", width: 1, style: .plain)

        /// One character without control characters. The right half of a wide character has an empty text.
        fileprivate(set) var text: String
        /// The number of columns: 1, or 2 in the left half of a wide character and 0 in its right half.
        fileprivate(set) var width: Int
        fileprivate(set) var style: TextStyle
    }

    let size: TerminalSize
    /// All cells, row after row.
    private(set) var cells: [Cell]
    /// The cursor position. If it is `nil`, the cursor is hidden.
    var cursor: Place?

    /// Creates a frame with blank cells.
    init(_ size: TerminalSize) {
        self.size = size
        cells = Array(repeating: .blank, count: size.columns * size.rows)
    }

    subscript(row: Int, column: Int) -> Cell { cells[row * size.columns + column] }

    /// Writes a text into one row. The part of the text that does not fit is cut off.
    ///
    /// - Parameters:
    ///   - text: The text.
    ///   - row: The row of the text. The first row is 0.
    ///   - column: The column of the first character. The first column is 0.
    ///   - limit: The maximum number of columns. By default, the text may reach the right edge.
    ///   - style: The style of the text.
    /// - Returns: The column after the text.
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

    /// Writes a `String` into one row, in the same way as a `GlyphText`.
    @discardableResult
    mutating func put(
        _ text: String, row: Int, column: Int, width limit: Int = .max, style: TextStyle = .plain
    ) -> Int {
        put(GlyphText(text), row: row, column: column, width: limit, style: style)
    }

    /// Fills a row, or some of its columns, with blanks.
    mutating func fill(row: Int, columns: Range<Int>? = nil, style: TextStyle = .plain) {
        guard (0..<size.rows).contains(row) else { return }
        for column in (columns ?? 0..<size.columns).clamped(to: 0..<size.columns) {
            set(Cell(text: " ", width: 1, style: style), row, column)
        }
    }

    /// Returns the text of a row without trailing spaces.
    func line(_ row: Int) -> String {
        var line = cells[(row * size.columns)..<((row + 1) * size.columns)].map(\.text).joined()
        while line.last == " " { line.removeLast() }
        return line
    }

    /// The text of all rows, without trailing spaces.
    var lines: [String] { (0..<size.rows).map { line($0) } }

    private mutating func set(_ cell: Cell, _ row: Int, _ column: Int) {
        let index = row * size.columns + column
        let end = index + max(1, cell.width)
        // If this cell covers one half of a wide character, replace the other half by a space.
        if cells[index].width == 0 { cells[index - 1] = Cell(text: " ", width: 1, style: cells[index - 1].style) }
        if cells[end - 1].width == 2 { cells[end] = Cell(text: " ", width: 1, style: cells[end].style) }
        cells[index] = cell
        if cell.width == 2 { cells[index + 1] = Cell(text: "", width: 0, style: cell.style) }
    }
}
