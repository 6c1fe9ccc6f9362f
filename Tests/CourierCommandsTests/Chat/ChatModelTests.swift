import TestSupport
import Testing

@testable import CourierCommands

struct ChatModelTests {
    /// A connected chat that has joined some rooms, and the actions that it has requested.
    private struct Played {
        var model: ChatModel
        var actions: [ChatModel.Action] = []
        var now = WallTime(seconds: 1_000, nanoseconds: 0)

        init(rooms: String...) throws {
            model = ChatModel(person: "me", name: try #require(ChatName("ada")))
            for room in rooms { self(.line("/join \(room)")) }
            self(.connected)
            self(.listens)
            echo()
            actions = []
        }

        mutating func callAsFunction(_ event: ChatModel.Event) {
            actions += model.handle(event, now: now)
        }

        /// Delivers the chat's own presence, which the broker sends after the presence of others.
        mutating func echo() { self(.presence(ChatPresence(person: "me", card: model.card))) }

        mutating func presence(_ person: String, _ name: String?, _ rooms: [String] = ["lobby"]) {
            self(.presence(ChatPresence(person: person, card: name.map { .init(name: $0, rooms: rooms) })))
        }

        mutating func said(_ text: String, by name: String = "bob", in room: String = "lobby") throws {
            let message = ChatMessage(id: "9", person: name, name: name, text: text, isAction: false, time: 1)
            self(.message(message, in: try #require(ChatName(room))))
        }

        mutating func takeActions() -> [ChatModel.Action] {
            defer { actions = [] }
            return actions
        }

        /// The lines of the room that is shown.
        var texts: [String] { model.room.entries.map { $0.line(in: nil) } }
    }

    private static func name(_ text: String) throws -> ChatName { try #require(ChatName(text)) }

    // MARK: Rooms

    @Test func `joining a room subscribes to the room, announces the user there and shows the room`() throws {
        var chat = try Played(rooms: "lobby")
        #expect(chat.model.roomNames.map(\.text) == ["lobby"])
        chat(.line("/join tea"))
        let tea = try Self.name("tea")
        #expect(chat.takeActions() == [.join(tea), .announce(.init(name: "ada", rooms: ["lobby", "tea"]))])
        #expect(chat.model.room.name == tea)
        chat(.line("/join lobby"))
        #expect(chat.takeActions().isEmpty && chat.model.room.name?.text == "lobby")
    }

    @Test func `the user's presence is announced only after the chat is connected and subscribed`() throws {
        var model = ChatModel(person: "me", name: try Self.name("ada"))
        let now = WallTime(seconds: 0, nanoseconds: 0)
        #expect(model.handle(.line("/join lobby"), now: now) == [.join(try Self.name("lobby"))])
        #expect(model.handle(.connected, now: now).isEmpty)
        #expect(model.handle(.listens, now: now) == [.announce(.init(name: "ada", rooms: ["lobby"]))])
    }

    @Test func `the chat still shows notices after the user has left the last room`() throws {
        var chat = try Played(rooms: "lobby", "tea")
        chat(.line("/leave"))
        #expect(chat.model.room.name?.text == "lobby")
        chat(.line("/leave lobby"))
        #expect(chat.model.room.name == nil && chat.model.roomNames.isEmpty)
        #expect(
            chat.takeActions().suffix(2) == [.leave(try Self.name("lobby")), .announce(.init(name: "ada", rooms: []))])
        chat(.line("hello"))
        #expect(chat.texts == ["-- You are in no room. Type /join ROOM to join a room."])
        chat(.line("/leave tea"))
        #expect(chat.texts.last == "-- You are not in that room.")
    }

    @Test func `the number of joined rooms is limited, and an invalid room name is refused`() throws {
        var chat = try Played()
        for number in 0..<(ChatModel.roomLimit + 2) { chat(.line("/join r\(number)")) }
        #expect(chat.model.roomNames.count == ChatModel.roomLimit)
        chat(.line("/join \(String(repeating: "x", count: 40))"))
        #expect(chat.texts.last == "-- \(ChatName.rule)")
    }

    @Test func `the chat leaves a room if the broker refuses the room's subscription`() throws {
        var chat = try Played(rooms: "lobby", "secret")
        chat(.refused(try Self.name("secret"), "Not authorized."))
        #expect(chat.model.roomNames.map(\.text) == ["lobby"])
        #expect(chat.actions.contains(.leave(try Self.name("secret"))))
    }

    // MARK: Lines

    @Test func `a sent line is pending until the broker acknowledges it`() throws {
        var chat = try Played(rooms: "lobby")
        chat(.line("hello"))
        guard case .send(let message, let room)? = chat.takeActions().first else {
            Issue.record("nothing is sent")
            return
        }
        #expect(room.text == "lobby" && message.text == "hello" && message.name == "ada" && message.person == "me")
        #expect(chat.model.pendingCount == 1 && chat.model.room.entries.last?.delivery == .pending)
        chat(.settled(id: message.id, failure: nil))
        #expect(chat.model.pendingCount == 0 && chat.model.room.entries.last?.delivery == .done)
    }

    @Test func `a line that could not be sent is marked with the reason, in the room where the line was typed`() throws
    {
        var chat = try Played(rooms: "lobby", "tea")
        chat(.line("/me pours"))
        guard case .send(let message, _)? = chat.takeActions().first else { return }
        #expect(message.isAction)
        chat(.line("/join lobby"))
        chat(.settled(id: message.id, failure: "Not authorized."))
        chat(.line("/join tea"))
        #expect(chat.model.room.entries.last?.delivery == .failed("Not authorized."))
    }

    @Test func `a user's own line is shown only once, even if the broker sends the line back`() throws {
        var chat = try Played(rooms: "lobby")
        chat(.line("hello"))
        guard case .send(let message, let room)? = chat.takeActions().first else { return }
        chat(.message(message, in: room))
        #expect(chat.texts == ["ada: hello"])
    }

    @Test func `a line of more than 4000 bytes is not sent, and a notice is shown`() throws {
        var chat = try Played(rooms: "lobby")
        chat(.line(String(repeating: "é", count: ChatMessage.textLimit / 2)))
        #expect(chat.model.pendingCount == 1)
        chat(.line(String(repeating: "é", count: ChatMessage.textLimit / 2) + "x"))
        #expect(chat.model.pendingCount == 1)
        #expect(chat.texts.last == "-- This line was not sent, because it is longer than 4000 bytes.")
    }

    @Test func `lines of other users are shown, or counted as unread if their room is hidden`() throws {
        var chat = try Played(rooms: "lobby", "tea")
        try chat.said("hi")
        try chat.said("two")
        #expect(chat.model.rooms[1].unreadCount == 2)
        chat(.keys([.control("p")]))
        #expect(chat.texts == ["bob: hi", "bob: two"] && chat.model.room.unreadCount == 0)
        try chat.said("x", in: "elsewhere")
        #expect(chat.texts.count == 2)
    }

    @Test func `a room has a maximum number of pending lines and of stored lines`() throws {
        var chat = try Played(rooms: "lobby")
        for number in 0..<(ChatModel.pendingLimit + 1) { chat(.line("\(number)")) }
        #expect(chat.model.pendingCount == ChatModel.pendingLimit)
        #expect(chat.texts.last?.contains("this line was not accepted") == true)
        for number in 0..<5_000 { try chat.said("\(number)") }
        #expect((ChatRoom.entryLimit...(ChatRoom.entryLimit * 5 / 4)).contains(chat.model.room.entries.count))
        #expect(chat.texts.last == "bob: 4999")
    }

    // MARK: People

    @Test func `present users are listed once, and later arrivals and departures are shown as notices`() throws {
        var model = ChatModel(person: "me", name: try Self.name("ada"))
        var texts: [String] = []
        func play(_ event: ChatModel.Event) {
            for case .tell(let entry, _) in model.handle(event, now: WallTime(seconds: 0, nanoseconds: 0)) {
                texts.append(entry.text)
            }
        }
        func presence(_ person: String, _ card: ChatPresence.Card?) {
            play(.presence(ChatPresence(person: person, card: card)))
        }
        play(.line("/join lobby"))
        play(.connected)
        play(.listens)
        presence("1", .init(name: "bob", rooms: ["lobby"]))
        presence("2", .init(name: "carol", rooms: ["tea"]))
        #expect(texts.isEmpty && !model.knowsPeople)
        presence("me", model.card)
        #expect(texts == ["Here: bob."] && model.knowsPeople)
        texts = []
        presence("2", .init(name: "carol", rooms: ["tea", "lobby"]))
        presence("2", .init(name: "carla", rooms: ["tea", "lobby"]))
        presence("2", .init(name: "carla", rooms: ["lobby"]))
        presence("2", .init(name: "carla", rooms: []))
        presence("1", nil)
        presence("3", nil)
        #expect(texts == ["carol is here.", "carol is now called carla.", "carla has left.", "bob is offline."])
        #expect(model.people(in: ChatName("lobby")).map(\.name) == ["ada"])
    }

    @Test func `a user who left during a lost connection is reported offline after the reconnect`() throws {
        var chat = try Played(rooms: "lobby")
        chat.presence("1", "bob")
        chat.presence("2", "carol")
        chat(.waiting("The broker has gone."))
        chat(.connected)
        chat(.listens)
        chat.presence("2", "carol")
        #expect(chat.model.people(in: chat.model.room.name).count == 3)
        chat.actions = []
        chat.echo()
        #expect(chat.texts.suffix(2) == ["-- bob is offline.", "-- Here: carol."])
    }

    @Test func `if the user's own will arrives, the chat announces the user again, at most a limited number of times`()
        throws
    {
        var chat = try Played(rooms: "lobby")
        for _ in 0..<20 { chat.presence("me", nil) }
        #expect(chat.actions == Array(repeating: .announce(chat.model.card), count: ChatModel.reannouncementLimit))
    }

    @Test func `two users with the same name are shown with different suffixes`() throws {
        var chat = try Played(rooms: "lobby")
        chat.presence("chat-abcd1111", "bob")
        chat.presence("chat-abcd2222", "bob")
        #expect(chat.model.people(in: chat.model.room.name).map(\.name) == ["ada", "bob~1111", "bob~2222"])
    }

    @Test func `the number of listed users is limited`() throws {
        var chat = try Played(rooms: "lobby")
        for number in 0..<(ChatModel.peopleLimit + 10) { chat.presence("\(number)", "p\(number)") }
        #expect(chat.model.people.count == ChatModel.peopleLimit)
    }

    @Test func `a new name is announced to other users`() throws {
        var chat = try Played(rooms: "lobby")
        chat(.line("/name grace"))
        #expect(chat.actions.last == .announce(.init(name: "grace", rooms: ["lobby"])))
    }

    @Test func `the chat stops waiting for the list of users if the broker refuses the subscription`() throws {
        var model = ChatModel(person: "me", name: try Self.name("ada"))
        _ = model.handle(.connected, now: WallTime(seconds: 0, nanoseconds: 0))
        _ = model.handle(.isAlone("Not authorized."), now: WallTime(seconds: 0, nanoseconds: 0))
        #expect(model.knowsPeople)
    }

    @Test func `chat reports a missing echo of its presence message only for the current connection`()
        throws
    {
        var model = ChatModel(person: "me", name: try Self.name("ada"))
        let now = WallTime(seconds: 0, nanoseconds: 0)
        _ = model.handle(.connected, now: now)
        #expect(model.handle(.announced, now: now) == [.awaitEcho(connection: 1)])
        _ = model.handle(.waiting("Gone."), now: now)
        #expect(model.handle(.echoIsLate(connection: 1), now: now).isEmpty)
        _ = model.handle(.connected, now: now)
        #expect(model.handle(.announced, now: now) == [.awaitEcho(connection: 2)])
        #expect(model.handle(.echoIsLate(connection: 1), now: now).isEmpty && !model.knowsPeople)
        #expect(model.handle(.echoIsLate(connection: 2), now: now).count == 1 && model.knowsPeople)
        let text =
            "-- The list of people online is not available: "
            + "the broker does not send the presence messages to this program."
        #expect(model.room.entries.last?.line(in: nil) == text)
        #expect(model.handle(.announced, now: now).isEmpty)
        #expect(model.handle(.echoIsLate(connection: 2), now: now).isEmpty)
    }

    // MARK: The connection

    @Test func `a lost connection is reported once, and the reconnect is reported once`() throws {
        var chat = try Played(rooms: "lobby")
        chat(.waiting("The connection was lost."))
        chat(.waiting("Connection refused."))
        #expect(chat.texts == ["-- The connection was lost. Trying again until the broker is available."])
        #expect(chat.model.connection == .waiting("Connection refused."))
        chat(.connected)
        #expect(chat.texts.last == "-- Connected." && chat.model.connection == .connected)
    }

    @Test(arguments: ["Connection error: Server busy", "Connection error: Server busy."])
    func `the reason in the notice of a lost connection ends with exactly one period`(reason: String) throws {
        var chat = try Played(rooms: "lobby")
        chat(.waiting(reason))
        #expect(chat.texts == ["-- Connection error: Server busy. Trying again until the broker is available."])
    }

    // MARK: Keys

    @Test func `keys type a line, Enter sends the line, and Up shows the line again`() throws {
        var chat = try Played(rooms: "lobby")
        chat(.keys([.character("h"), .character("i"), .enter]))
        guard case .send(let message, _)? = chat.actions.first else {
            Issue.record("nothing is sent")
            return
        }
        #expect(message.text == "hi" && chat.model.input.isEmpty)
        chat(.keys([.up]))
        #expect(chat.model.input.text == "hi")
    }

    @Test func `pasted text becomes one input line and is not sent automatically`() throws {
        var chat = try Played(rooms: "lobby")
        chat(.keys([.pasted("/quit\nyes\n")]))
        #expect(chat.actions.isEmpty && chat.model.input.text == "/quit yes ")
    }

    @Test(arguments: [
        ("/he", "/help"), ("/j", "/join "), ("/", "/"), ("bo", "bob: "), ("hi bo", "hi bob "), ("c", "car"),
        ("x", "x"), ("", ""),
    ])
    func `Tab completes commands and names`(typed: String, completed: String) throws {
        var chat = try Played(rooms: "lobby")
        for name in ["bob", "carol", "carla"] { chat.presence(name, name) }
        chat(.keys(typed.map { .character($0) } + [.tab]))
        #expect(chat.model.input.text == completed)
    }

    @Test func `Ctrl-N, Ctrl-P and Alt with a digit change the shown room`() throws {
        var chat = try Played(rooms: "a", "b", "c")
        let shown: (ChatModel) -> String? = { $0.room.name?.text }
        #expect(shown(chat.model) == "c")
        chat(.keys([.control("n")]))
        #expect(shown(chat.model) == "a")
        chat(.keys([.control("p"), .control("p")]))
        #expect(shown(chat.model) == "b")
        chat(.keys([.modified(.alt, .character("3"))]))
        #expect(shown(chat.model) == "c")
        chat(.keys([.modified(.alt, .character("9"))]))
        #expect(shown(chat.model) == "c")
    }

    @Test(arguments: [.control("c"), .control("d")] as [Key])
    func `Ctrl-C or Ctrl-D ends the chat, and all later keys are ignored`(key: Key) throws {
        var chat = try Played(rooms: "lobby")
        chat(.keys([key, key, .character("x"), .enter]))
        #expect(chat.actions == [.end])
    }

    @Test func `Ctrl-D deletes a character and does not end the chat if the line has text`() throws {
        var chat = try Played(rooms: "lobby")
        chat(.keys([.character("x"), .home, .control("d")]))
        #expect(chat.actions.isEmpty && chat.model.input.isEmpty)
    }

    @Test func `when standard input ends, the chat ends only after all sent lines are acknowledged`() throws {
        var chat = try Played(rooms: "lobby")
        chat(.line("hello"))
        guard case .send(let message, _)? = chat.takeActions().first else { return }
        chat(.endOfInput)
        #expect(chat.actions.isEmpty)
        chat(.settled(id: message.id, failure: nil))
        #expect(chat.actions == [.end])
    }

    @Test(arguments: ["/help", "/who", "/rooms", "/dance"])
    func `the chat answers the commands help, who and rooms and unknown commands with a notice in the room`(
        line: String
    ) throws {
        var chat = try Played(rooms: "lobby")
        chat(.line(line))
        #expect(!chat.texts.isEmpty && chat.texts.allSatisfy { $0.hasPrefix("-- ") })
    }
}
