/// Draws the chat at any size: rooms above, what was said, who is there beside it, and the line that is typed below.
struct ChatView {
    /// The last line that is seen: of an entry, by its number, and counted within it.
    struct Place: Hashable, Sendable, Comparable {
        var entry: Int
        var line: Int

        static func < (left: Place, right: Place) -> Bool { (left.entry, left.line) < (right.entry, right.line) }
    }

    /// From how many columns on people have a column of their own.
    static let widthForPeople = 60
    /// How wide that is, with its border.
    static let peopleWidth = 18

    private static let palette: [TextStyle.Colour] = [.green, .yellow, .blue, .magenta, .cyan, .red]

    private let model: ChatModel
    private let size: TerminalSize
    private let entries: [ChatEntry]
    /// How wide what was said is, and how many lines of it are seen.
    private let width: Int
    private let height: Int

    init(_ model: ChatModel) {
        self.model = model
        size = model.size
        entries = model.room.entries
        width = size.columns >= Self.widthForPeople ? size.columns - Self.peopleWidth : size.columns
        height = max(0, size.rows - (Self.hasTitle(size) ? 1 : 0) - (Self.hasStatus(size) ? 1 : 0) - 1)
    }

    private static func hasTitle(_ size: TerminalSize) -> Bool { size.rows >= 4 }
    private static func hasStatus(_ size: TerminalSize) -> Bool { size.rows >= 6 }

    /// What the terminal is to show.
    var frame: Frame {
        var frame = Frame(size)
        let top = Self.hasTitle(size) ? 1 : 0
        if top > 0 { drawTitle(&frame) }
        drawEntries(&frame, top)
        if size.columns >= Self.widthForPeople { drawPeople(&frame, top) }
        if Self.hasStatus(size) { drawStatus(&frame) }
        drawInput(&frame)
        return frame
    }

    // MARK: Title, status, input and people

    private func drawTitle(_ frame: inout Frame) {
        frame.fill(row: 0, style: .reversed)
        let state = GlyphText(connectionText)
        let room = max(0, size.columns - state.width - 2)
        var style = TextStyle.reversed
        style.isBold = true
        if case .waiting = model.connection { style.colour = .red }
        frame.put(state, row: 0, column: size.columns - state.width - 1, style: style)
        var column = 0
        for (place, other) in titleRooms(room) {
            let isShown = place == model.shownRoom
            let count = other.unreadCount > 0 ? " \(other.unreadCount)" : ""
            let text = GlyphText(" \(other.name?.text ?? "")\(count) ")
            if column + text.width > room, !isShown { break }
            style = .reversed
            style.isBold = isShown
            style.isUnderlined = isShown
            column = frame.put(text.shortened(toWidth: room - column), row: 0, column: column, style: style)
        }
        if model.rooms.count == 1 { frame.put(" courier chat", row: 0, column: 0, width: room, style: .reversed) }
    }

    /// The rooms in their order; where there is no place for all, the one that is shown and those with something new first.
    private func titleRooms(_ room: Int) -> [(offset: Int, element: ChatRoom)] {
        let rooms = Array(model.rooms.enumerated().dropFirst())
        let width = rooms.reduce(0) { $0 + GlyphText($1.element.name?.text ?? "").width + 6 }
        if width <= room { return rooms }
        let shown = rooms.filter { $0.offset == model.shownRoom }
        let others = rooms.filter { $0.offset != model.shownRoom }
        return shown + others.filter { $0.element.unreadCount > 0 } + others.filter { $0.element.unreadCount == 0 }
    }

    private var connectionText: String {
        switch model.connection {
        case .connecting: "connecting"
        case .connected: "connected"
        case .waiting: "no connection"
        }
    }

    private func drawStatus(_ frame: inout Frame) {
        let row = size.rows - 2
        var parts = [model.name.text]
        if model.room.name != nil { parts.append("\(model.people(in: model.room.name).count) here") }
        if model.pendingCount > 0 { parts.append("\(model.pendingCount) on the way") }
        if model.scroll != nil { parts.append("more below: PageDown") }
        if model.rooms.count == 1 { parts.append("/join ROOM, /help") }
        let text = GlyphText(" " + parts.joined(separator: " · ")).shortened(toWidth: size.columns)
        let end = frame.put(text, row: row, column: 0, style: .faint)
        guard end + 1 < size.columns else { return }
        let line = GlyphText(String(repeating: "─", count: size.columns - end - 1))
        frame.put(line, row: row, column: end + 1, style: .faint)
    }

    private func drawInput(_ frame: inout Frame) {
        let row = size.rows - 1
        let start = frame.put("> ", row: row, column: 0, width: max(0, size.columns - 1), style: .bold)
        let view = model.input.view(width: size.columns - start)
        frame.put(view.text, row: row, column: start)
        frame.cursor = Frame.Place(row: row, column: min(size.columns - 1, start + view.cursor))
    }

    private func drawPeople(_ frame: inout Frame, _ top: Int) {
        let people = model.people(in: model.room.name)
        for row in 0..<height {
            frame.put("│", row: top + row, column: width, style: .faint)
            guard people.indices.contains(row) else { continue }
            let isLast = row == height - 1 && people.count > height
            if isLast {
                frame.put("\(people.count - row) more", row: top + row, column: width + 2, style: .faint)
                continue
            }
            let name = GlyphText(people[row].name).shortened(toWidth: Self.peopleWidth - 3)
            frame.put(name, row: top + row, column: width + 2, style: style(of: people[row].person))
        }
    }

    /// Somebody's colour, the same every time.
    private func style(of person: String) -> TextStyle {
        var hash: UInt64 = 14_695_981_039_346_656_037
        for byte in person.utf8 { hash = (hash ^ UInt64(byte)) &* 1_099_511_628_211 }
        var style = TextStyle.coloured(Self.palette[Int((hash >> 32) % UInt64(Self.palette.count))])
        style.isBold = person == model.person
        return style
    }

    // MARK: Chat entries

    private func drawEntries(_ frame: inout Frame, _ top: Int) {
        let last = model.scroll.map(clamp)
        var row = top + height
        for entry in entries.prefix(last.map { index($0.entry) + 1 } ?? entries.count).reversed() {
            if row == top { return }
            let lines = lines(of: entry)
            let count = if let last, last.entry == entry.number { last.line + 1 } else { lines.count }
            for line in lines.prefix(count).reversed() where row > top {
                row -= 1
                var column = 0
                for segment in line {
                    column = frame.put(
                        segment.text, row: row, column: column, width: width - column, style: segment.style)
                }
            }
        }
    }

    /// A part of a line that looks the same.
    private struct Segment {
        let text: GlyphText
        let style: TextStyle
    }

    /// An entry as lines of the view's width.
    private func lines(of entry: ChatEntry) -> [[Segment]] {
        let time = Segment(text: GlyphText(entry.time.text("%H:%M ")), style: .faint)
        var head = [time]
        var style = TextStyle.plain
        switch entry.kind {
        case .speech(let person, let name):
            head.append(Segment(text: GlyphText("\(name): "), style: self.style(of: person)))
        case .action(let person, let name):
            head.append(Segment(text: GlyphText("* \(name) "), style: self.style(of: person)))
        case .notice: style = .faint
        case .problem: style = .coloured(.red)
        }
        var text = entry.text
        switch entry.delivery {
        case .done: break
        case .pending:
            text += " …"
            style = .faint
        case .failed(let reason):
            text += " [not sent: \(reason)]"
            style = .coloured(.red)
        }
        // Other lines begin below the first one's name, unless there is hardly room.
        let indent = width >= 20 ? time.text.width : 0
        let first = width - head.reduce(0) { $0 + $1.text.width }
        // A first line with a long name has no room: the text begins on the next one.
        let body =
            first >= 8
            ? GlyphText(text).lines(width: first, others: width - indent)
            : [GlyphText("")] + GlyphText(text).lines(width: width - indent)
        let margin = Segment(text: GlyphText(String(repeating: " ", count: indent)), style: .plain)
        return body.enumerated().map { number, text in
            (number == 0 ? head : [margin]) + [Segment(text: text, style: style)]
        }
    }

    // MARK: Scrolling

    /// One page up; `nil` stays at the newest.
    var pageUp: Place? {
        guard let last = lastPlace else { return nil }
        var place = model.scroll.map(clamp) ?? last
        for _ in 0..<max(1, height - 1) { place = self.place(above: place) ?? place }
        return clamped(place)
    }

    /// One page down; `nil` is the newest.
    var pageDown: Place? {
        guard let scroll = model.scroll else { return nil }
        var place = clamp(scroll)
        for _ in 0..<max(1, height - 1) { place = self.place(below: place) ?? place }
        return clamped(place)
    }

    /// A place that fills the view if there is enough; `nil` at the newest.
    func clamped(_ place: Place) -> Place? {
        guard let last = lastPlace, let first = entries.first else { return nil }
        var highest = Place(entry: first.number, line: 0)
        for _ in 0..<max(0, height - 1) { highest = self.place(below: highest) ?? highest }
        let place = max(clamp(place), highest)
        return place >= last ? nil : place
    }

    private func index(_ number: Int) -> Int { number - (entries.first?.number ?? 0) }

    private func lineCount(_ number: Int) -> Int { lines(of: entries[index(number)]).count }

    private var lastPlace: Place? {
        entries.last.map { Place(entry: $0.number, line: lineCount($0.number) - 1) }
    }

    /// The nearest place that there is: entries go, and lines are fewer on a wide terminal.
    private func clamp(_ place: Place) -> Place {
        guard let first = entries.first, let last = entries.last else { return place }
        if place.entry < first.number { return Place(entry: first.number, line: 0) }
        if place.entry > last.number { return lastPlace ?? place }
        return Place(entry: place.entry, line: min(place.line, lineCount(place.entry) - 1))
    }

    private func place(above place: Place) -> Place? {
        if place.line > 0 { return Place(entry: place.entry, line: place.line - 1) }
        guard index(place.entry) > 0 else { return nil }
        return Place(entry: place.entry - 1, line: lineCount(place.entry - 1) - 1)
    }

    private func place(below place: Place) -> Place? {
        if place.line + 1 < lineCount(place.entry) { return Place(entry: place.entry, line: place.line + 1) }
        return index(place.entry) + 1 < entries.count ? Place(entry: place.entry + 1, line: 0) : nil
    }
}
