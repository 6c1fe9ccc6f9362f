import TestSupport
import Testing

@testable import CourierCommands

struct FrameTests {
    @Test func `text appears at its position and is cut at its width limit and at the edge`() {
        var frame = Frame(TerminalSize(columns: 8, rows: 3))
        #expect(frame.put("hello world", row: 0, column: 2) == 8)
        #expect(frame.put("hello", row: 1, column: 1, width: 3) == 4)
        #expect(frame.put("日本", row: 2, column: 5) == 7)
        #expect(frame.lines == ["  hello", " hel", "     日"])
    }

    @Test(arguments: [(-1, 0), (3, 0), (0, 8), (0, 100), (Int.max, 0), (0, Int.max)])
    func `text outside the frame is ignored`(row: Int, column: Int) {
        var frame = Frame(TerminalSize(columns: 8, rows: 3))
        frame.put("text", row: row, column: column)
        frame.fill(row: row, columns: 7..<20)
        #expect(frame == Frame(TerminalSize(columns: 8, rows: 3)))
    }

    @Test(arguments: [
        (0, "x 本"), (1, " x本"), (2, "日x"), (3, "日 x"),
    ])
    func `if text overwrites one half of a wide character, a space replaces the other half`(column: Int, line: String) {
        var frame = Frame(TerminalSize(columns: 8, rows: 1))
        frame.put("日本", row: 0, column: 0)
        frame.put("x", row: 0, column: column)
        #expect(frame.line(0) == line)
    }

    @Test(arguments: SeededGenerator.seeds)
    func `in each row of a frame, the cell widths add up to the number of columns`(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let size = TerminalSize(columns: 9, rows: 2)
        var frame = Frame(size)
        for _ in 0..<500 {
            let text = String((0..<generator.below(5)).map { _ in generator.pick(Array("a日é😀\u{301}")) })
            frame.put(text, row: generator.below(2), column: generator.below(10), width: generator.below(6))
            for row in 0..<2 {
                let widths = (0..<9).map { frame[row, $0].width }
                #expect(widths.reduce(0, +) == 9)
                for (column, width) in widths.enumerated() where width == 2 { #expect(widths[column + 1] == 0) }
            }
        }
    }
}
