/// Turns frames into what is written to the terminal: only what is different from the frame before.
///
/// The terminal's cursor is put into its place anew behind each character whose width terminals may not agree about, so
/// that such a character never moves what stands behind it.
struct FramePainter: Sendable {
    /// Opens a screen of its own whose lines end at its edge, and marks what is pasted.
    static let opening = "\u{1B}[?1049h\u{1B}[?7l\u{1B}[?2004h\u{1B}[?25l"
    /// Takes all of that back.
    static let closing = "\u{1B}[0m\u{1B}[?2004l\u{1B}[?7h\u{1B}[?25h\u{1B}[?1049l"

    private let hasColours: Bool
    /// What the terminal shows; `nil` when that is not known.
    private var shown: Frame?

    init(hasColours: Bool) { self.hasColours = hasColours }

    /// Forgets what the terminal shows: the next frame is written as a whole.
    mutating func forget() { shown = nil }

    /// What makes the terminal show this frame; empty when it does already.
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

    /// What is written for one frame.
    private struct Stroke {
        let hasColours: Bool
        var text = "\u{1B}[?25l"
        private var style: TextStyle?
        /// Where the terminal's cursor is, where that is certain.
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
