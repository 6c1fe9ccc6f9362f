import TestSupport
import Testing

@testable import CourierCommands

struct ChatViewTests {
    private static let now = WallTime(seconds: 1_000, nanoseconds: 0)
    private static let time = now.text("%H:%M")

    private static func model(columns: Int, rows: Int, rooms: [String] = ["lobby"]) throws -> ChatModel {
        var model = ChatModel(person: "me", name: try #require(ChatName("ada")))
        _ = model.handle(.resized(TerminalSize(columns: columns, rows: rows)), now: now)
        for room in rooms { _ = model.handle(.line("/join \(room)"), now: now) }
        _ = model.handle(.connected, now: now)
        _ = model.handle(.presence(ChatPresence(person: "me", card: model.card)), now: now)
        return model
    }

    private static func say(_ text: String, to model: inout ChatModel, in room: String = "lobby") throws {
        let message = ChatMessage(id: "1", person: "b", name: "bob", text: text, isAction: false, time: 1)
        _ = model.handle(.message(message, in: try #require(ChatName(room))), now: now)
    }

    @Test func `a small terminal shows the rooms, the lines, the connection state and the input`() throws {
        var model = try Self.model(columns: 40, rows: 10, rooms: ["tea", "lobby"])
        try Self.say("a line that is longer than the terminal is wide", to: &model)
        try Self.say("unread", to: &model, in: "tea")
        _ = model.handle(.line("mine"), now: Self.now)
        _ = model.handle(.keys([.character("h"), .character("i")]), now: Self.now)
        let frame = ChatView(model).frame
        #expect(
            frame.lines == [
                " tea 1  lobby                 connected", "", "", "", "",
                "\(Self.time) bob: a line that is longer than", "      the terminal is wide",
                "\(Self.time) ada: mine …", " ada · 1 here · waiting lines: 1 ───────", "> hi",
            ])
        #expect(frame.cursor == Frame.Place(row: 9, column: 4))
    }

    @Test func `the title shows the current room first, then the rooms with unread lines`() throws {
        var model = try Self.model(columns: 40, rows: 10, rooms: ["first", "second", "third", "fourth"])
        try Self.say("new", to: &model, in: "second")
        let title = ChatView(model).frame.line(0)
        #expect(title.hasPrefix(" fourth  second 1  first "), "\(title)")
    }

    @Test func `a wide terminal shows a column of users and all rooms`() throws {
        var model = try Self.model(columns: 80, rows: 10, rooms: ["tea", "lobby"])
        try Self.say("unread", to: &model, in: "tea")
        for number in 1...9 {
            let card = ChatPresence.Card(name: "p\(number)", rooms: ["lobby"])
            _ = model.handle(.presence(ChatPresence(person: "\(number)", card: card)), now: Self.now)
        }
        let lines = ChatView(model).frame.lines
        #expect(lines[0].hasPrefix(" tea 1  lobby ") && lines[0].hasSuffix("connected"))
        #expect(lines[1].hasSuffix("│ ada") && lines[2].hasSuffix("│ p1") && lines[7].hasSuffix("│ 4 more people"))
    }

    @Test func `control characters in received messages are shown as escaped text`() throws {
        var model = try Self.model(columns: 90, rows: 10)
        try Self.say("\u{1B}[2J\u{9B}2J\u{07}\r\n\u{202E}", to: &model)
        let frame = ChatView(model).frame
        #expect(frame.lines.joined().contains(#"bob: \u{1B}[2J\u{009B}2J\u{07}\r\n\u{202E}"#))
        for cell in frame.cells {
            #expect(cell.text.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control })
        }
    }

    @Test func `PageUp and PageDown stop at the first and last line, and a new line does not scroll the view`() throws {
        var model = try Self.model(columns: 40, rows: 10)
        for number in 1...30 { try Self.say("line \(number)", to: &model) }
        let seen: (ChatModel) -> [Int] = { model in
            ChatView(model).frame.lines.compactMap { line in
                line.contains("line ") ? line.split(separator: " ").last.flatMap { Int($0) } : nil
            }
        }
        #expect(seen(model) == Array(24...30))
        _ = model.handle(.keys([.pageUp]), now: Self.now)
        #expect(seen(model) == Array(18...24))
        try Self.say("line 31", to: &model)
        #expect(seen(model) == Array(18...24) && ChatView(model).frame.lines[8].contains("PageDown: newer lines"))
        for _ in 0..<10 { _ = model.handle(.keys([.pageUp]), now: Self.now) }
        #expect(seen(model) == Array(1...7))
        _ = model.handle(.resized(TerminalSize(columns: 30, rows: 12)), now: Self.now)
        #expect(seen(model) == Array(1...9))
        for _ in 0..<10 { _ = model.handle(.keys([.pageDown]), now: Self.now) }
        #expect(seen(model) == Array(23...31) && model.scroll == nil)
        // Sending a line scrolls to the end.
        _ = model.handle(.keys([.pageUp, .character("x"), .enter]), now: Self.now)
        #expect(model.scroll == nil)
    }

    @Test(arguments: SeededGenerator.seeds)
    func `after random events, the drawn frame has the terminal's size and contains the cursor`(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        var model = try Self.model(columns: 80, rows: 24, rooms: ["lobby", "tea"])
        for _ in 0..<400 {
            let event: ChatModel.Event =
                switch generator.below(8) {
                case 0: .resized(TerminalSize(columns: 1 + generator.below(90), rows: 1 + generator.below(20)))
                case 1: .keys([generator.pick([.pageUp, .pageDown, .control("n"), .left, .home, .up, .backspace])])
                case 2: .keys([.character(generator.pick(Array("a 日😀")))])
                case 3: .line(generator.pick(["hello", "/join tea", "/leave", "/join lobby", "/help", "/rooms"]))
                case 4: generator.flag() ? .waiting("Gone.") : .connected
                case 5:
                    .presence(
                        ChatPresence(
                            person: "\(generator.below(30))",
                            card: generator.flag() ? .init(name: "n\(generator.below(9))日", rooms: ["lobby"]) : nil))
                default:
                    .message(
                        ChatMessage(
                            id: "1", person: "\(generator.below(9))", name: generator.pick(["b", "日本語の長い名前です"]),
                            text: String((0..<generator.below(200)).map { _ in generator.pick(Array("ab 日\u{1B}")) }),
                            isAction: generator.flag(), time: 1), in: try #require(ChatName("lobby")))
                }
            _ = model.handle(event, now: Self.now)
            let frame = ChatView(model).frame
            #expect(frame.size == model.size)
            if let cursor = frame.cursor {
                #expect(cursor.row < frame.size.rows && cursor.column < frame.size.columns)
            }
        }
    }
}
