/// Converts frames into bytes for the terminal. Only the cells that differ from the previous frame are written.
///
/// Terminals may disagree about the width of non-ASCII characters. The painter therefore sets the cursor position again
/// after each non-ASCII character. A wrong width thus never moves the text after it.
struct FramePainter: Sendable {
    /// Switches to the alternate screen, turns off line wrap, turns on markers around pasted text, and hides the
    /// cursor.
    static let opening = "\u{1B}[?1049h\u{1B}[?7l\u{1B}[?2004h\u{1B}[?25l"
    /// Undoes ``opening``.
    static let closing = "\u{1B}[0m\u{1B}[?2004l\u{1B}[?7h\u{1B}[?25h\u{1B}[?1049l"

    private let hasColours: Bool
    /// The frame that the terminal shows now, or `nil` if its content is unknown.
    private var shown: Frame?

    init(hasColours: Bool) { self.hasColours = hasColours }

    /// Forgets the content of the terminal, so that the next frame is written completely.
    mutating func forget() { shown = nil }

    /// Returns the bytes that make the terminal show this frame, or no bytes if the terminal already shows it.
    mutating func paint(_ frame: Frame) -> [UInt8] {
        if frame == shown { return [] }
        var stroke = Stroke(hasColours: hasColours)
        let before: Frame
        if let shown, shown.size == frame.size {
            before = shown
        } else {
            before = Frame(frame.size)
            stroke.text += "\u{1B}[0m\u{1B}[2J"
        }
        for row in 0..<frame.size.rows {
            for column in 0..<frame.size.columns {
                let cell = frame[row, column]
                if cell.width > 0, cell != before[row, column] { stroke.write(cell, row, column, frame.size.columns) }
            }
        }
        shown = frame
        stroke.end(frame.cursor)
        return Array(stroke.text.utf8)
    }

    /// Collects the bytes for one frame.
    private struct Stroke {
        let hasColours: Bool
        var text = "\u{1B}[?25l"
        private var style: TextStyle?
        /// The cursor position of the terminal, or `nil` if the position is unknown.
        private var place: Frame.Place?

        init(hasColours: Bool) { self.hasColours = hasColours }

        mutating func write(_ cell: Frame.Cell, _ row: Int, _ column: Int, _ columns: Int) {
            let here = Frame.Place(row: row, column: column)
            if place != here { move(to: here) }
            if style != cell.style {
                style = cell.style
                text += cell.style.escapeSequence(hasColours: hasColours)
            }
            text += cell.text
            let isCertain = cell.text.utf8.count == 1 && column + 1 < columns
            place = isCertain ? Frame.Place(row: row, column: column + 1) : nil
        }

        mutating func end(_ cursor: Frame.Place?) {
            text += "\u{1B}[0m"
            guard let cursor else { return }
            move(to: cursor)
            text += "\u{1B}[?25h"
        }

        private mutating func move(to place: Frame.Place) {
            text += "\u{1B}[\(place.row + 1);\(place.column + 1)H"
        }
    }
}
