import CourierMQTTChuck
import MQTTCodec
import TestSupport
import Testing

@testable import CourierCommands

@MainActor struct InspectorViewTests {
    private let packets = RecordedPackets()

    private func view(
        columns: Int = 80, rows: Int = 24, isFollowing: Bool = false, shownRows: Int = 2_000
    ) -> InspectorView {
        var view = InspectorView(
            MQTTChuckViewModel(packets.logger, maximumRows: shownRows), name: "run.archive", isFollowing: isFollowing)
        view.resized(TerminalSize(columns: columns, rows: rows))
        return view
    }

    /// The line of the list that is selected.
    private func selected(_ view: inout InspectorView) -> String? {
        let frame = view.frame()
        return (1..<frame.size.rows).first { frame[$0, 0].style.isReversed }.map { frame.line($0) }
    }

    @discardableResult
    private func press(_ view: inout InspectorView, _ keys: Key...) -> [InspectorView.Reaction] {
        keys.map { view.pressed($0) }
    }

    private func type(_ text: String, in view: inout InspectorView) {
        for character in text { _ = view.pressed(.character(character)) }
    }

    // MARK: The list

    @Test func `packets are listed by time with direction arrows, and the newest packet is selected`() throws {
        try packets.order(1)
        try packets.order(2, .quotaExceeded)
        var view = view()
        let lines = view.frame().lines
        #expect(lines[0].hasPrefix(" run.archive  4 packets"))
        #expect(lines[1].contains(" → PUBLISH     q1 #1 orders/1 pizza"), "\(lines[1])")
        #expect(lines[2].contains(" ← PUBACK") && lines[4].contains("Quota exceeded"), "\(lines[4])")
        #expect(selected(&view) == lines[4])
        #expect(lines[23].contains("q end"))
    }

    @Test func `packet directions and errors are shown in different colors`() throws {
        try packets.order(2, .quotaExceeded)
        try packets.receive("a", "b")
        var view = view()
        let frame = view.frame()
        func colours(_ row: Int) -> Set<TextStyle.Colour> {
            Set((0..<80).compactMap { frame[row, $0].style.colour })
        }
        #expect(colours(1).contains(.cyan) && colours(2).isSuperset(of: [.green, .red]))
        #expect(!colours(1).contains(.red) && colours(3) == [])  // The selected line is reversed instead.
    }

    @Test func `keys move the selection, and the selection stays visible and within the list`() throws {
        for number in 1...60 { try packets.receive("t/\(number)", "x") }
        var view = view(rows: 12)
        func topic() -> String { selected(&view)?.split(separator: " ").dropFirst(4).first.map(String.init) ?? "" }
        #expect(topic() == "t/60")
        for (key, expected) in [
            (Key.down, "t/60"), (.up, "t/59"), (.character("k"), "t/58"), (.character("j"), "t/59"), (.pageUp, "t/50"),
            (.pageDown, "t/59"), (.home, "t/1"), (.up, "t/1"), (.pageDown, "t/10"), (.end, "t/60"),
            (.character("g"), "t/1"), (.character("G"), "t/60"),
        ] {
            press(&view, key)
            #expect(topic() == expected, "\(key)")
        }
    }

    @Test func `after random keys and sizes, exactly one packet is selected and visible`() throws {
        for number in 1...40 { try packets.order(number, number % 7 == 0 ? .quotaExceeded : .success) }
        let keys: [Key] = [
            .up, .down, .pageUp, .pageDown, .home, .end, .enter, .escape, .tab, .left, .right, .backspace, .delete,
            .character("/"), .character("?"), .character("e"), .character(" "), .character("t"), .character(":"),
            .pasted("type:pu\nblish\u{1B}"), .control("u"), .control("l"),
        ]
        for seed in SeededGenerator.seeds {
            var chance = SeededGenerator(seed: seed)
            var view = view(isFollowing: true)
            for step in 0..<300 {
                if chance.chance(1, in: 8) {
                    view.resized(TerminalSize(columns: 1 + chance.below(100), rows: 1 + chance.below(40)))
                }
                if chance.chance(1, in: 20) {
                    try packets.receive("t", "x")
                    view.recorded()
                }
                #expect(view.pressed(chance.pick(keys)) != .end)
                let frame = view.frame()
                let isList = view.focus == .list || view.focus == .filter
                let isThere = (0..<frame.size.rows).contains { !frame.line($0).isEmpty }
                #expect(isThere, "seed \(seed), step \(step)")
                if isList, frame.size.rows >= 5, !view.model.rows.isEmpty {
                    let count = (1..<frame.size.rows).count { frame[$0, 0].style.isReversed }
                    #expect(count == 1, "seed \(seed), step \(step): \(frame.lines)")
                }
            }
        }
    }

    @Test func `control characters in topics and payloads are shown as escaped text`() throws {
        try packets.receive("news\u{1B}[2J\u{202E}", "a\u{9B}31m\nb\u{7}")
        var view = view()
        for line in view.frame().lines
            + {
                press(&view, .enter)
                return view.frame().lines
            }()
        {
            for scalar in line.unicodeScalars {
                #expect(![.control, .format].contains(scalar.properties.generalCategory), "\(line)")
            }
        }
        #expect(view.frame().lines.contains { $0.contains(#"news\u{1B}[2J\u{202E}"#) })
    }

    @Test func `if a recording has no packets, inspect shows a notice and ignores keys`() {
        var view = view()
        #expect(view.frame().lines[1] == " There are no packets.")
        #expect(press(&view, .down, .enter, .end, .tab, .character("/"), .enter) == Array(repeating: .none, count: 6))
    }

    @Test func `the title shows the number of listed packets if only the newest packets are listed`() throws {
        for number in 1...20 { try packets.receive("t/\(number)", "x") }
        var view = view(shownRows: 5)
        #expect(view.frame().lines[0].contains("20 packets, showing the newest 5"))
    }

    // MARK: The filter

    @Test func `Enter applies a typed filter to the list, and an invalid filter shows an error`() throws {
        try packets.order(1)
        try packets.order(2, .quotaExceeded)
        var view = view()
        press(&view, .character("/"))
        type("qos:9", in: &view)
        var frame = view.frame()
        #expect(frame.line(22) == "/qos:9" && frame.line(23).hasPrefix("column 5: "))
        #expect(frame[23, 0].style.colour == .red && frame.cursor == Frame.Place(row: 22, column: 6))
        press(&view, .enter)
        #expect(view.focus == .filter)

        press(&view, .control("u"))
        type("errors", in: &view)
        #expect(!view.frame().line(23).contains("column"))
        press(&view, .enter)
        frame = view.frame()
        #expect(view.focus == .list && frame.line(0).contains("1 of 4 packets"))
        #expect(frame.line(1).contains("PUBACK") && frame.line(2).isEmpty && frame.line(22) == "Filter: errors")
        #expect(selected(&view)?.contains("PUBACK") == true)

        press(&view, .character("/"))
        type(" nothing", in: &view)
        press(&view, .enter)
        #expect(view.frame().line(1).contains("No packet matches the filter."))
        press(&view, .escape)
        #expect(view.frame().line(0).contains(" 4 packets") && !view.frame().line(22).contains("Filter"))
    }

    @Test func `while a filter is typed, Escape cancels the filter, and q is entered as text`() throws {
        try packets.order(1)
        var view = view()
        press(&view, .character("/"))
        type("q", in: &view)
        #expect(view.frame().line(22) == "/q")
        press(&view, .escape)
        #expect(view.focus == .list && view.frame().line(0).contains(" 2 packets"))
        #expect(view.pressed(.character("q")) == .end)
    }

    // MARK: Details

    @Test func `Enter shows a packet, Tab changes the payload format, and arrows show other packets`() throws {
        try packets.receive("a", #"{"b":[1,2]}"#)
        try packets.receive("c", "plain")
        var view = view(rows: 40)
        press(&view, .up, .enter)
        func screen() -> String { view.frame().lines.joined(separator: "\n") }
        #expect(screen().contains("PUBLISH from broker.example:1883") && screen().contains("topic      a"))
        #expect(screen().contains("\n  \"b\" : [\n"), "\(screen())")  // JSON says most about it.
        press(&view, .tab)
        #expect(screen().contains(#"{"b":[1,2]}"#))
        press(&view, .tab)
        #expect(screen().contains("000000  7B 22 62 22 3A 5B 31 2C 32 5D 7D"))
        press(&view, .tab, .right)
        #expect(screen().contains("topic      c") && screen().contains("The payload is not JSON."))
        press(&view, .tab)
        #expect(screen().contains("\nplain"))
        press(&view, .left, .escape)
        #expect(view.focus == .list && selected(&view)?.contains(" a ") == true)
    }

    @Test func `on a small terminal, packet details fit the width, and Tab shows the payload`() throws {
        try packets.receive("a", String(repeating: "word ", count: 100))
        var view = view(columns: 40, rows: 10)
        press(&view, .enter)
        var lines = view.frame().lines
        #expect(lines.count == 10 && lines[1].hasPrefix("PUBLISH from broker.example"))
        #expect(lines.allSatisfy { GlyphText($0).width <= 40 })
        press(&view, .tab)
        lines = view.frame().lines
        #expect(lines[1].hasPrefix("payload, 500 bytes") && lines[2].hasPrefix("000000  77 6F 72 64"), "\(lines)")
        press(&view, .end)
        #expect(view.frame().lines[8].hasPrefix("0001f2"), "\(view.frame().lines)")
        press(&view, .home)
        #expect(view.frame().lines[1].hasPrefix("PUBLISH from"))
    }

    @Test func `only the beginning of a large payload is shown, with the number of remaining bytes`() throws {
        try packets.receive("a", String(repeating: "x", count: PayloadView.byteLimit - 100))
        try packets.receive("b", String(repeating: "x", count: 100_000))  // The logger keeps 64 KiB of the packet.
        var view = view(rows: 40)
        press(&view, .enter, .end)
        #expect(view.frame().lines.contains { $0.contains("more bytes") })
        press(&view, .left, .end)
        #expect(!view.frame().lines.contains { $0.contains("more bytes") })
    }

    // MARK: Following

    @Test func `the newest packet stays selected until the user selects another packet`() throws {
        try packets.receive("t/1", "x")
        var view = view(isFollowing: true)
        #expect(view.frame().line(0).contains("following"))
        try packets.receive("t/2", "x")
        view.recorded()
        #expect(selected(&view)?.contains("t/2") == true)
        press(&view, .up)
        try packets.receive("t/3", "x")
        view.recorded()
        #expect(selected(&view)?.contains("t/1") == true && view.frame().line(3).contains("t/3"))
        press(&view, .end)
        try packets.receive("t/4", "x")
        view.recorded()
        #expect(selected(&view)?.contains("t/4") == true)
    }

    @Test func `a packet that is selected in a filtered list stays selected when the filter is removed`() throws {
        for number in 1...10 { try packets.receive("t/\(number)", "x") }
        var view = view(isFollowing: true)
        press(&view, .character("/"))
        type("topic:t/9", in: &view)
        press(&view, .enter, .escape)
        #expect(selected(&view)?.contains("t/9") == true)
        try packets.receive("t/11", "x")
        view.recorded()
        #expect(selected(&view)?.contains("t/9") == true)
        press(&view, .end)
        try packets.receive("t/12", "x")
        view.recorded()
        #expect(selected(&view)?.contains("t/12") == true)
    }

    @Test func `Space pauses and resumes the list, and a new packet does not replace the packet shown in detail`()
        throws
    {
        try packets.receive("t/1", "x")
        var view = view(isFollowing: true)
        press(&view, .character(" "))
        try packets.receive("t/2", "x")
        view.recorded()
        #expect(view.frame().line(0).contains("paused, new packets: 1") && view.frame().line(2).isEmpty)
        press(&view, .character(" "))
        #expect(view.frame().line(2).contains("t/2") && view.frame().line(0).contains("following"))
        press(&view, .enter)
        try packets.receive("t/3", "x")
        view.recorded()
        #expect(view.frame().lines.contains { $0.contains("topic      t/2") })
    }

    // MARK: Keys everywhere

    @Test func `Ctrl-C, Ctrl-Z and Ctrl-L work in every view, and help returns to the previous view`() throws {
        try packets.order(1)
        var view = view(columns: 40, rows: 10)
        press(&view, .enter, .character("?"))
        #expect(view.focus == .help && view.frame().lines[1].contains("select a packet"))
        press(&view, .pageDown, .pageDown)
        #expect(view.frame().lines.joined(separator: " ").contains("type:publish"))
        press(&view, .character("x"))
        #expect(view.focus == .details)
        for _ in 0..<4 {
            #expect(press(&view, .control("z"), .control("l"), .control("c")) == [.suspend, .drawAnew, .end])
            press(&view, .escape, .character("/"), .character("?"))
        }
    }
}
