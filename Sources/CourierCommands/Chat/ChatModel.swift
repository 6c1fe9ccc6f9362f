import Foundation

/// The chat as a state machine: its inputs are events, and its outputs are actions.
///
/// The model uses no sockets, terminals or clocks. ``ChatView`` draws it.
struct ChatModel: Sendable {
    enum Event: Sendable {
        // Input of the user.
        case keys([Key])
        /// An input line of the user, typed on the screen or read from standard input.
        case line(String)
        case endOfInput
        case resized(TerminalSize)
        // Events of the connection.
        case connected
        /// The connection failed or was lost, and another attempt follows.
        case waiting(String)
        case subscribed(to: ChatName)
        case refused(ChatName, String)
        /// The broker has granted the subscription to the list of people.
        case listens
        /// The list of people cannot be completed, for this reason. For example, the broker refuses the subscription to
        /// the list.
        case isAlone(String)
        /// The broker has received this program's presence card.
        case announced
        /// ``echoTime`` has passed since the event `announced`. In this time, the broker should have sent back the
        /// presence card. `connection` is the number of the connection on which the card was announced.
        case echoIsLate(connection: Int)
        case message(ChatMessage, in: ChatName)
        case presence(ChatPresence)
        /// The broker has accepted a message, or the message has failed.
        case settled(id: String, failure: String?)
    }

    enum Action: Hashable, Sendable {
        case join(ChatName)
        case leave(ChatName)
        case send(ChatMessage, in: ChatName)
        /// Announce this user's name and rooms.
        case announce(ChatPresence.Card)
        /// Send the event `echoIsLate` when ``echoTime`` has passed, with the number of the present connection.
        case awaitEcho(connection: Int)
        /// A new entry was added to a room. Print it if there is no screen.
        case tell(ChatEntry, in: ChatName?)
        case suspend
        /// Draw the whole screen again.
        case redraw
        case end
    }

    enum Connection: Hashable, Sendable {
        case connecting
        case connected
        case waiting(String)
    }

    /// The maximum number of rooms that the user can join.
    static let roomLimit = 16
    /// The maximum number of people in the list. Further people are not listed.
    static let peopleLimit = 1_000
    /// The maximum number of lines that wait for the broker's acknowledgement.
    static let pendingLimit = 1_000
    /// If this program's presence card is cleared on the broker, the program announces the card again, at most this
    /// number of times per connection.
    static let reannouncementLimit = 5
    /// The time within which the broker must send this program's own presence card back to this program.
    static let echoTime = Duration.seconds(5)

    /// The client id of this program.
    let person: String
    private(set) var name: ChatName
    private(set) var connection = Connection.connecting
    /// The rooms in the order of joining. The first element has no name. It holds notices, and is shown only while the
    /// user is in no room.
    private(set) var rooms = [ChatRoom(nil)]
    /// The index of the shown room.
    private(set) var shownRoom = 0
    /// The present people by client id, including this program's user.
    private(set) var people: [String: ChatPresence.Card] = [:]
    private(set) var input = InputLine(byteLimit: ChatMessage.textLimit)
    private(set) var size = TerminalSize.usual
    /// The last visible line; `nil` if the view follows the newest line.
    private(set) var scroll: ChatView.Place?
    /// The number of lines that wait for the broker's acknowledgement.
    private(set) var pendingCount = 0
    /// True if all people who were present before this connection are in the list, or if the list cannot be completed.
    private(set) var knowsPeople = false
    /// The people who were present before the connection was lost, and whose presence cards have not been received
    /// again yet.
    private var unseenPeople: Set<String> = []
    private var sentCount = 0
    private var connectionCount = 0
    private var reannouncementCount = 0
    private var hasInputEnded = false
    private var isEnding = false

    /// Creates a chat without a connection and without rooms.
    ///
    /// - Parameters:
    ///   - person: The client id.
    ///   - name: The name that other people see.
    init(person: String, name: ChatName) {
        self.person = person
        self.name = name
    }

    /// The room that is shown.
    var room: ChatRoom { rooms[shownRoom] }

    /// The names of the joined rooms.
    var roomNames: [ChatName] { rooms.compactMap(\.name) }

    /// The presence card that other people see: the name and the rooms of the user.
    var card: ChatPresence.Card { ChatPresence.Card(name: name.text, rooms: roomNames.map(\.text)) }

    /// Returns the people in a room, sorted by name. If two people have the same name, the end of the client id follows
    /// each of these names.
    func people(in room: ChatName?) -> [(person: String, name: String)] {
        guard let room else { return [] }
        let there = people.filter { $0.value.rooms.contains(room.text) }
        let counts = Dictionary(grouping: there.values, by: \.name).mapValues(\.count)
        return there.map { person, card in
            (person, counts[card.name, default: 1] > 1 ? "\(card.name)~\(person.suffix(4))" : card.name)
        }.sorted { ($0.name, $0.person) < ($1.name, $1.person) }
    }

    /// Handles an event.
    ///
    /// - Parameters:
    ///   - event: The event.
    ///   - now: The present time.
    /// - Returns: The actions, in the sequence in which they must be performed.
    mutating func handle(_ event: Event, now: WallTime) -> [Action] {
        if isEnding { return [] }
        switch event {
        case .keys(let keys): return keys.flatMap { handle($0, now) }
        case .line(let line): return follow(ChatInstruction(line), now)
        case .endOfInput:
            hasInputEnded = true
            return endIfDone()
        case .resized(let size):
            self.size = size
            scroll = scroll.flatMap { ChatView(self).clamped($0) }
            return []
        case .connected:
            let wasWaiting = if case .waiting = connection { true } else { false }
            connection = .connected
            connectionCount += 1
            reannouncementCount = 0
            knowsPeople = false
            unseenPeople = Set(people.keys)
            return wasWaiting ? [notice("Connected.", now)] : []
        case .waiting(let reason):
            let wasWaiting = if case .waiting = connection { true } else { false }
            connection = .waiting(reason)
            knowsPeople = false
            let stop = reason.hasSuffix(".") ? "" : "."
            return wasWaiting ? [] : [problem("\(reason)\(stop) Trying again until the broker is available.", now)]
        case .listens: return [.announce(card)]
        case .isAlone(let reason):
            knowsPeople = true
            return [problem("The list of people online is not available: \(reason)", now)]
        case .announced: return knowsPeople ? [] : [.awaitEcho(connection: connectionCount)]
        case .echoIsLate(let number):
            guard number == connectionCount, connection == .connected, !knowsPeople else { return [] }
            return handle(.isAlone("the broker does not send the presence messages to this program."), now: now)
        case .subscribed(let room):
            // This notice is added only to an empty room. Otherwise each reconnection would add the notice again.
            guard let place = place(of: room), rooms[place].entries.isEmpty else { return [] }
            return [append(entry(.notice, "You are in \(room.text).", now), place)]
        case .refused(let room, let reason):
            return [problem("The broker refuses the room \(room.text): \(reason)", now)] + remove(room)
        case .message(let message, let room): return received(message, room, now)
        case .presence(let presence): return received(presence, now)
        case .settled(let id, let failure): return settled(id, failure)
        }
    }

    // MARK: Rooms and entries

    private func place(of room: ChatName) -> Int? { rooms.firstIndex { $0.name == room } }

    private func entry(_ kind: ChatEntry.Kind, _ text: String, _ now: WallTime) -> ChatEntry {
        ChatEntry(kind: kind, text: text, time: now)
    }

    private mutating func append(_ entry: ChatEntry, _ place: Int) -> Action {
        rooms[place].append(entry)
        return .tell(entry, in: rooms[place].name)
    }

    /// Adds a notice to the shown room.
    private mutating func notice(_ text: String, _ now: WallTime) -> Action {
        append(entry(.notice, text, now), shownRoom)
    }

    private mutating func problem(_ text: String, _ now: WallTime) -> Action {
        append(entry(.problem, text, now), shownRoom)
    }

    private mutating func show(_ place: Int) {
        shownRoom = place
        rooms[place].unreadCount = 0
        scroll = nil
    }

    private mutating func remove(_ room: ChatName) -> [Action] {
        guard let place = place(of: room) else { return [] }
        rooms.remove(at: place)
        if shownRoom >= place { show(shownRoom > place || place == rooms.count ? shownRoom - 1 : shownRoom) }
        // The first element of `rooms`, which holds notices, is shown only while the user is in no room.
        if shownRoom == 0, rooms.count > 1 { show(1) }
        return [.leave(room)] + announcement
    }

    /// The action that announces the rooms. Without a connection there is no action, because the next connection
    /// announces the rooms.
    private var announcement: [Action] { connection == .connected ? [.announce(card)] : [] }
}

// MARK: - Events of other people

extension ChatModel {
    private mutating func received(_ message: ChatMessage, _ room: ChatName, _ now: WallTime) -> [Action] {
        guard let place = place(of: room), !(message.person == person && message.id != "") else { return [] }
        let kind =
            message.isAction
            ? ChatEntry.Kind.action(person: message.person, name: message.name)
            : .speech(person: message.person, name: message.name)
        if place != shownRoom { rooms[place].unreadCount += 1 }
        return [append(entry(kind, message.text, now), place)]
    }

    private mutating func received(_ presence: ChatPresence, _ now: WallTime) -> [Action] {
        if presence.person == self.person { return receivedOwn(presence, now) }
        unseenPeople.remove(presence.person)
        guard people[presence.person] != nil || people.count < Self.peopleLimit else { return [] }
        return set(presence, now)
    }

    /// Handles this program's own presence card, which the broker sends back. The retained cards of other people arrive
    /// before this card. So the list of people is complete when this card arrives.
    private mutating func receivedOwn(_ presence: ChatPresence, _ now: WallTime) -> [Action] {
        guard let card = presence.card else {
            // The card was cleared: after this program had announced its card, the broker published the will of an
            // earlier, lost connection. So the card is announced again.
            guard connection == .connected, reannouncementCount < Self.reannouncementLimit else { return [] }
            reannouncementCount += 1
            return [.announce(self.card)]
        }
        people[self.person] = card
        if knowsPeople { return [] }
        unseenPeople.remove(self.person)
        let gone = unseenPeople.sorted().flatMap { set(ChatPresence(person: $0, card: nil), now) }
        unseenPeople = []
        knowsPeople = true
        return gone + rooms.indices.dropFirst().compactMap { tellWhoIsThere($0, now) }
    }

    private mutating func tellWhoIsThere(_ place: Int, _ now: WallTime) -> Action? {
        let others = people(in: rooms[place].name).filter { $0.person != person }
        if others.isEmpty { return nil }
        return append(entry(.notice, "Here: \(Self.list(others.map(\.name))).", now), place)
    }

    /// Returns the names as a text, at most 50 of them. If there are more names, the text ends with the number of
    /// omitted names.
    private static func list(_ names: [String]) -> String {
        let shown = names.prefix(50).joined(separator: ", ")
        return names.count > 50 ? "\(shown) and \(names.count - 50) more" : shown
    }

    /// Stores whether a person is present, and adds notices about the change to the rooms.
    private mutating func set(_ presence: ChatPresence, _ now: WallTime) -> [Action] {
        let before = people[presence.person]
        people[presence.person] = presence.card
        guard knowsPeople || presence.card == nil else { return [] }
        var actions: [Action] = []
        for place in rooms.indices.dropFirst() {
            guard let room = rooms[place].name?.text else { continue }
            let text: String
            switch (before.flatMap { $0.rooms.contains(room) ? $0 : nil }, presence.card) {
            case (nil, let card?): if card.rooms.contains(room) { text = "\(card.name) is here." } else { continue }
            case (let old?, nil): text = "\(old.name) is offline."
            case (let old?, let card?):
                if !card.rooms.contains(room) {
                    text = "\(old.name) has left."
                } else if card.name != old.name {
                    text = "\(old.name) is now called \(card.name)."
                } else {
                    continue
                }
            case (nil, nil): continue
            }
            actions.append(append(entry(.notice, text, now), place))
        }
        return actions
    }
}

// MARK: - Actions of the user

extension ChatModel {
    private mutating func handle(_ key: Key, _ now: WallTime) -> [Action] {
        if isEnding { return [] }
        switch key {
        case .enter:
            scroll = nil
            return follow(ChatInstruction(input.take()), now)
        case .control("c"): return end()
        case .control("d") where input.isEmpty: return end()
        case .control("z"): return [.suspend]
        case .control("l"): return [.redraw]
        case .pageUp: scroll = ChatView(self).pageUp
        case .pageDown: scroll = ChatView(self).pageDown
        case .control("n"), .modified(.alt, .right): step(1)
        case .control("p"), .modified(.alt, .left): step(-1)
        case .modified(.alt, .character(let digit)):
            if let number = digit.wholeNumberValue, rooms.indices.dropFirst().contains(number) { show(number) }
        case .tab: complete()
        default: _ = input.handle(key)
        }
        return []
    }

    private mutating func step(_ distance: Int) {
        let count = rooms.count - 1
        if count > 0 { show(1 + (shownRoom - 1 + distance + count) % count) }
    }

    /// Completes the word before the cursor: a command, or the name of a person in the room.
    private mutating func complete() {
        let before = input.textBeforeCursor
        let word = before.split(separator: " ", omittingEmptySubsequences: false).last.map(String.init) ?? ""
        guard !word.isEmpty else { return }
        let isFirst = word.count == before.count
        let candidates =
            isFirst && word.hasPrefix("/")
            ? ChatInstruction.words.map { $0.word + ($0.argument.isEmpty ? "" : " ") }
            : people(in: room.name).filter { $0.person != person }.map { $0.name + (isFirst ? ": " : " ") }
        let fitting = candidates.filter { $0.lowercased().hasPrefix(word.lowercased()) }
        guard var common = fitting.first else { return }
        for other in fitting.dropFirst() { common = common.commonPrefix(with: other) }
        guard common.count > word.count else { return }
        for _ in word { _ = input.handle(.backspace) }
        input.insert(common)
    }

    private mutating func follow(_ instruction: ChatInstruction, _ now: WallTime) -> [Action] {
        switch instruction {
        case .nothing: return []
        case .say(let text): return send(text, isAction: false, now)
        case .act(let text): return send(text, isAction: true, now)
        case .join(let name): return join(name, now)
        case .leave(let name):
            guard let wanted = name.map({ ChatName($0) }) ?? room.name, place(of: wanted) != nil else {
                return [problem("You are not in that room.", now)]
            }
            return remove(wanted)
        case .rooms:
            let names = roomNames.map(\.text)
            return [notice(names.isEmpty ? "You are in no room." : "Your rooms: \(Self.list(names)).", now)]
        case .who:
            guard room.name != nil else { return [problem("You are in no room.", now)] }
            return [notice("Here: \(Self.list(people(in: room.name).map(\.name))).", now)]
        case .name(let typed):
            guard let name = ChatName(typed) else { return [problem(ChatName.rule, now)] }
            self.name = name
            return [notice("Your name is now \(name.text).", now)] + announcement
        case .help:
            return ChatInstruction.words.map { word in
                notice([word.word, word.argument, word.meaning].filter { !$0.isEmpty }.joined(separator: " "), now)
            }
        case .quit: return end()
        case .unknown(let word): return [problem("There is no command \(word). Type /help to list the commands.", now)]
        }
    }

    private mutating func join(_ typed: String, _ now: WallTime) -> [Action] {
        guard let room = ChatName(typed) else { return [problem(ChatName.rule, now)] }
        if let place = place(of: room) {
            show(place)
            return []
        }
        guard roomNames.count < Self.roomLimit else {
            return [problem("You are already in \(Self.roomLimit) rooms, the maximum. Leave a room first.", now)]
        }
        rooms.append(ChatRoom(room))
        show(rooms.count - 1)
        let who = knowsPeople ? tellWhoIsThere(shownRoom, now) : nil
        return [.join(room)] + announcement + (who.map { [$0] } ?? [])
    }

    private mutating func send(_ text: String, isAction: Bool, _ now: WallTime) -> [Action] {
        guard let room = room.name else {
            return [problem("You are in no room. Type /join ROOM to join a room.", now)]
        }
        guard text.utf8.count <= ChatMessage.textLimit else {
            return [problem("This line was not sent, because it is longer than \(ChatMessage.textLimit) bytes.", now)]
        }
        guard pendingCount < Self.pendingLimit else {
            return [problem("\(pendingCount) lines wait for the broker; this line was not accepted.", now)]
        }
        sentCount += 1
        pendingCount += 1
        let time = Double(now.seconds) + Double(now.nanoseconds / 1_000_000) / 1_000
        let message = ChatMessage(
            id: "\(sentCount)", person: person, name: name.text, text: text, isAction: isAction, time: time)
        var own = entry(
            isAction ? .action(person: person, name: name.text) : .speech(person: person, name: name.text), text, now)
        own.messageID = message.id
        own.delivery = .pending
        rooms[shownRoom].append(own)
        return [.send(message, in: room)]
    }

    private mutating func settled(_ id: String, _ failure: String?) -> [Action] {
        pendingCount -= 1
        let delivery = failure.map { ChatEntry.Delivery.failed($0) } ?? .done
        for place in rooms.indices where rooms[place].set(delivery, ofMessage: id) { break }
        return endIfDone()
    }

    private mutating func endIfDone() -> [Action] { hasInputEnded && pendingCount == 0 ? end() : [] }

    private mutating func end() -> [Action] {
        isEnding = true
        return [.end]
    }
}
