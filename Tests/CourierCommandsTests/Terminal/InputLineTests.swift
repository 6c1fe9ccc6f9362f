import TestSupport
import Testing

@testable import CourierCommands

struct InputLineTests {
    private static func line(_ keys: [Key], _ text: String = "") -> InputLine {
        var line = InputLine()
        line.insert(text)
        for key in keys { _ = line.handle(key) }
        return line
    }

    @Test(
        arguments: [
            ([.left, .character("x")], "one twxo"), ([.home, .character("x")], "xone two"),
            ([.control("a"), .delete], "ne two"), ([.backspace], "one tw"), ([.control("w")], "one "),
            ([.modified(.alt, .left), .modified(.control, .left), .end, .character("!")], "one two!"),
            ([.modified(.alt, .left), .control("u")], "two"), ([.modified(.alt, .left), .control("k")], "one "),
            ([.home, .modified(.alt, .right), .control("d")], "onetwo"),
            ([.home, .backspace, .left, .control("b")], "one two"),
            ([.delete, .right], "one two"), ([.pasted("\na\tb\u{1B}")], "one two a b"),
            ([.character("e"), .character("\u{301}"), .backspace], "one two"),
        ] as [([Key], String)])
    func `keys edit the input line as in a shell`(keys: [Key], text: String) {
        #expect(Self.line(keys, "one two").text == text)
    }

    @Test func `Up shows earlier input lines, and Down returns to the unfinished line`() {
        var line = InputLine()
        for text in ["one", "two", "two"] {
            line.insert(text)
            #expect(line.take() == text)
        }
        line.insert("dra")
        let seen = ([.up, .up, .up, .down, .down, .down] as [Key]).map { key in
            _ = line.handle(key)
            return line.text
        }
        #expect(seen == ["two", "one", "one", "two", "dra", "dra"])
    }

    @Test func `the input line and its history have size limits`() {
        var line = InputLine(byteLimit: 10)
        line.insert("ééééééé")
        #expect(line.text == "ééééé")
        _ = line.handle(.character("x"))
        #expect(line.text == "ééééé")
        _ = line.take()
        for number in 0..<(InputLine.historyLimit + 50) {
            line.insert("\(number)")
            _ = line.take()
        }
        for _ in 0..<(InputLine.historyLimit + 50) { _ = line.handle(.up) }
        #expect(line.text == "50")
    }

    @Test func `the input line does not handle keys such as Enter, Tab and Escape`() {
        var line = InputLine()
        for key in [.enter, .tab, .escape, .pageUp, .function(1), .control("c")] as [Key] {
            let isTaken = line.handle(key)
            #expect(!isTaken)
        }
    }

    @Test func `the visible part of the input line contains the cursor`() {
        var line = Self.line([], "日本語 text")
        #expect(line.view(width: 20).text.string == "日本語 text" && line.view(width: 20).cursor == 11)
        #expect(line.view(width: 6).text.string == " text" && line.view(width: 6).cursor == 5)
        _ = line.handle(.home)
        #expect(line.view(width: 6).text.string == "日本語" && line.view(width: 6).cursor == 0)
        #expect(line.view(width: 0).text.width == 0)
    }

    @Test(arguments: SeededGenerator.seeds)
    func `after random keys, the input line does not exceed its size limit, and the cursor is visible`(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var line = InputLine(byteLimit: 40)
        let keys: [Key] = [
            .character("a"), .character("日"), .character("\u{301}"), .character(" "), .left, .right, .home, .end,
            .backspace, .delete, .control("w"), .control("u"), .control("k"), .up, .down, .modified(.alt, .left),
            .modified(.alt, .right), .pasted("x\ny"),
        ]
        for _ in 0..<500 {
            _ = line.handle(generator.pick(keys))
            if Int.random(in: 0..<20, using: &generator) == 0 { _ = line.take() }
            #expect(line.text.utf8.count <= 40)
            #expect((0...line.text.count).contains(line.cursor))
            let width = Int.random(in: 1...20, using: &generator)
            let view = line.view(width: width)
            #expect(view.text.width <= width && view.cursor < width)
        }
    }
}
