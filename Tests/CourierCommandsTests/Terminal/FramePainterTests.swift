import TestSupport
import Testing

@testable import CourierCommands

/// A terminal that accepts only the escape sequences that the painter may write. It gives characters outside ASCII a
/// random width.
private struct NarrowTerminal {
    struct Unknown: Error {
        let sequence: String
    }

    struct Cell: Equatable {
        var text = " "
        var style = "0"
    }

    let columns: Int
    var cells: [Cell]
    var row = 0
    var column = 0
    var style = "0"
    var isCursorVisible = true
    var generator: SeededGenerator

    init(_ size: TerminalSize, seed: UInt64) {
        columns = size.columns
        cells = Array(repeating: Cell(), count: size.columns * size.rows)
        generator = SeededGenerator(seed: seed)
    }

    mutating func write(_ bytes: [UInt8]) throws {
        var rest = Array(String(decoding: bytes, as: UTF8.self).unicodeScalars)[...]
        while let scalar = rest.popFirst() {
            if scalar == "\u{1B}" { try follow(&rest) } else { write(scalar) }
        }
    }

    private mutating func write(_ scalar: Unicode.Scalar) {
        if scalar.terminalWidth == 0 {
            // A combining mark belongs to the last written character, wherever the cursor is now.
            if let last { cells[last].text.unicodeScalars.append(scalar) }
            return
        }
        last = row * columns + min(column, columns - 1)
        cells[row * columns + min(column, columns - 1)] = Cell(text: String(scalar), style: style)
        column += scalar.isASCII ? 1 : generator.below(4)
    }

    private var last: Int?

    private mutating func follow(_ rest: inout ArraySlice<Unicode.Scalar>) throws {
        guard let end = rest.firstIndex(where: { $0.properties.isAlphabetic }), rest.popFirst() == "[" else {
            throw Unknown(sequence: String(String.UnicodeScalarView(rest)))
        }
        let words = String(String.UnicodeScalarView(rest[rest.startIndex..<end]))
        let final = rest[end]
        rest = rest[(end + 1)...]
        let numbers = words.split(separator: ";").compactMap { Int($0) }
        switch (final, words) {
        case ("m", _): style = words
        case ("J", "2"): cells = Array(repeating: Cell(), count: cells.count)
        case ("h", "?25"): isCursorVisible = true
        case ("l", "?25"): isCursorVisible = false
        case ("H", _) where numbers.count == 2: (row, column) = (numbers[0] - 1, numbers[1] - 1)
        default: throw Unknown(sequence: words + String(final))
        }
    }
}

struct FramePainterTests {
    private static func randomFrame(_ size: TerminalSize, like last: Frame, _ generator: inout SeededGenerator) -> Frame
    {
        var frame = generator.chance(20) ? Frame(size) : last
        for _ in 0..<generator.below(6) {
            let text = String((0..<generator.below(8)).map { _ in generator.pick(Array("ab日é😀e\u{301} ")) })
            var style = TextStyle(colour: generator.flag() ? generator.pick(TextStyle.Colour.allCases) : nil)
            style.isBold = generator.flag()
            frame.put(text, row: generator.below(size.rows), column: generator.below(size.columns), style: style)
        }
        frame.cursor =
            generator.flag() ? Frame.Place(row: generator.below(size.rows), column: generator.below(size.columns)) : nil
        return frame
    }

    @Test(arguments: SeededGenerator.seeds)
    func `the terminal shows the last frame after each paint`(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let size = TerminalSize(columns: 12, rows: 4)
        var painter = FramePainter(hasColours: true)
        var terminal = NarrowTerminal(size, seed: seed)
        var frame = Frame(size)
        for _ in 0..<300 {
            frame = Self.randomFrame(size, like: frame, &generator)
            if generator.chance(5) { painter.forget() }
            try terminal.write(painter.paint(frame))
            for row in 0..<size.rows {
                for column in 0..<size.columns where frame[row, column].width > 0 {
                    let (cell, shown) = (frame[row, column], terminal.cells[row * size.columns + column])
                    let style = cell.style.escapeSequence(hasColours: true).dropFirst(2).dropLast()
                    #expect(shown.text == cell.text)
                    #expect(shown.style == style)
                }
            }
            #expect(terminal.isCursorVisible == (frame.cursor != nil))
            if let cursor = frame.cursor { #expect(terminal.row == cursor.row && terminal.column == cursor.column) }
        }
    }

    @Test func `FramePainter writes only the cells that changed`() {
        let size = TerminalSize(columns: 200, rows: 60)
        var painter = FramePainter(hasColours: true)
        var frame = Frame(size)
        for row in 0..<60 { frame.put(String(repeating: "x", count: 200), row: row, column: 0) }
        #expect(painter.paint(frame).count > 12_000)
        #expect(painter.paint(frame).isEmpty)
        frame.put("y", row: 30, column: 100)
        #expect(painter.paint(frame) == Array("\u{1B}[?25l\u{1B}[31;101H\u{1B}[0my\u{1B}[0m".utf8))
    }

    @Test func `a frame of another size clears the terminal and is drawn completely`() {
        var painter = FramePainter(hasColours: true)
        _ = painter.paint(Frame(TerminalSize(columns: 20, rows: 2)))
        var frame = Frame(TerminalSize(columns: 10, rows: 2))
        frame.put("x", row: 0, column: 0)
        let text = String(decoding: painter.paint(frame), as: UTF8.self)
        #expect(text.contains("\u{1B}[2J") && text.contains("x"))
    }

    @Test func `if colors are disabled, FramePainter still writes bold text`() {
        var frame = Frame(TerminalSize(columns: 10, rows: 1))
        frame.put("x", row: 0, column: 0, style: TextStyle(colour: .red, isBold: true))
        var painter = FramePainter(hasColours: false)
        let text = String(decoding: painter.paint(frame), as: UTF8.self)
        #expect(text.contains("\u{1B}[0;1mx") && !text.contains("31"))
    }
}
