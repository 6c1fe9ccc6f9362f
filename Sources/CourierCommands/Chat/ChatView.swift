/// Draws the chat for any terminal size. The rooms are at the top, the entries and the list of people in the middle,
/// and the input line at the bottom.
struct ChatView {
    /// A line of the list of entries: the number of the entry, and the index of the line within the entry.
    struct Place: Hashable, Sendable, Comparable {
        var entry: Int
        var line: Int

        static func < (left: Place, right: Place) -> Bool { (left.entry, left.line) < (right.entry, right.line) }
    }

    /// The minimum width of the terminal, in columns, at which the list of people is shown.
    static let widthForPeople = 60
    /// The width of the list of people in columns, including its border.
    static let peopleWidth = 18

    private static let palette: [TextStyle.Colour] = [.green, .yellow, .blue, .magenta, .cyan, .red]

    private let model: ChatModel
    private let size: TerminalSize
    private let entries: [ChatEntry]
    /// The width of the entries in columns, and their height in lines.
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

    /// The content of the terminal screen.
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

    /// Returns the rooms for the title, in the order of joining. If not all rooms fit, the shown room is first,
    /// followed by the rooms with unread lines and then by all other rooms.
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
        if model.pendingCount > 0 { parts.append("waiting lines: \(model.pendingCount)") }
        if model.scroll != nil { parts.append("PageDown: newer lines") }
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
                frame.put("\(people.count - row) more people", row: top + row, column: width + 2, style: .faint)
                continue
            }
            let name = GlyphText(people[row].name).shortened(toWidth: Self.peopleWidth - 3)
            frame.put(name, row: top + row, column: width + 2, style: style(of: people[row].person))
        }
    }

    /// Returns the style of a person's name. The color depends only on the client id, so it never changes.
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

    /// A part of a line with one style.
    private struct Segment {
        let text: GlyphText
        let style: TextStyle
    }

    /// Returns an entry as lines that are at most `width` columns wide.
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
        // Further lines are indented to the column where the name starts in the first line. A narrow view has no
        // indentation.
        let indent = width >= 20 ? time.text.width : 0
        let first = width - head.reduce(0) { $0 + $1.text.width }
        // If the name leaves fewer than 8 columns in the first line, the text starts in the second line.
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

    /// The last visible line after the user scrolls one page up. It is `nil` if the newest line remains visible.
    var pageUp: Place? {
        guard let last = lastPlace else { return nil }
        var place = model.scroll.map(clamp) ?? last
        for _ in 0..<max(1, height - 1) { place = self.place(above: place) ?? place }
        return clamped(place)
    }

    /// The last visible line after the user scrolls one page down. It is `nil` if the newest line is then visible.
    var pageDown: Place? {
        guard let scroll = model.scroll else { return nil }
        var place = clamp(scroll)
        for _ in 0..<max(1, height - 1) { place = self.place(below: place) ?? place }
        return clamped(place)
    }

    /// Returns the line nearest to `place` that can be the last visible line. The line exists, and if there are enough
    /// lines, the lines up to it fill the view. Returns `nil` for the newest line.
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

    /// Returns the nearest line that exists. A line can disappear, because old entries are removed and because a wider
    /// terminal needs fewer lines.
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
