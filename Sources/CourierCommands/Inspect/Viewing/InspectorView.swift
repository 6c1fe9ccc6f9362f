import CourierMQTTChuck

/// The screen of `courier inspect` on a terminal: decides what the screen shows, and what each key does.
///
/// ```
///  run.archive    3 of 1,204 packets · following  header: the file, and the number of packets in the list
///  10:15:02 → PUBLISH orders/7 {"pizza":1}         packets; one of them is selected
///  10:15:02 ← PUBACK
///  Filter: orders                                  only if a filter is set
///  ↑↓ select  Enter details  / filter  q end       the keys that have an effect now
/// ```
///
/// The header says “following” while new packets of the file are added to the list. This type reads no file and does
/// not use the terminal itself: its owner passes each typed key to ``pressed(_:)``, and draws the frame that
/// ``frame()`` returns.
@MainActor struct InspectorView {
    /// The part of the view that receives the keys.
    enum Focus: Equatable { case list, details, filter, help }

    /// The action that the owner of the terminal must perform after a key.
    enum Reaction: Equatable { case none, end, suspend, drawAnew }

    /// The maximum size of a query in bytes.
    private static let queryLimit = 1_000
    /// The minimum height of the terminal at which a part of the list stays visible above the details.
    private static let splitHeight = 32
    /// The maximum number of list lines above the details.
    private static let splitList = 7
    /// The maximum number of lines for the error message of a filter.
    private static let hintHeight = 3

    let model: MQTTChuckViewModel
    private let name: String
    /// True if rows may still be added to the recording.
    private let isFollowing: Bool

    private(set) var focus = Focus.list
    private var size = TerminalSize.usual
    private var filter = InputLine(byteLimit: queryLimit)
    /// The error in the filter that is being typed, or `nil` if the filter is valid.
    private var filterError: MQTTChuckQueryError?
    /// The number of the first visible row in the list.
    private var listTop: UInt64 = 0
    /// True if each new row is selected as soon as it is added, so that the list shows the newest packet.
    private var sticksToEnd = true
    private var payloadView: PayloadView?
    private var detailsTop = 0
    private var helpTop = 0
    /// The focus before the help was opened. Closing the help restores it.
    private var helpedFocus = Focus.list
    private var laidOut: LaidOut?

    /// The details that were laid out last. They are cached, so that they are laid out again only if the packet, the
    /// payload format or the width changes.
    private struct LaidOut {
        let row: UInt64
        let view: PayloadView
        let width: Int
        let text: DetailsText
    }

    /// Creates a view of a model.
    ///
    /// - Parameters:
    ///   - model: The packets. Its query filters the list from the start.
    ///   - name: The name of the recording, such as a file name.
    ///   - isFollowing: True if more rows may be added.
    init(_ model: MQTTChuckViewModel, name: String, isFollowing: Bool) {
        self.model = model
        self.name = name
        self.isFollowing = isFollowing
        selectNewest()
    }

    // MARK: Events

    /// Updates the view after the logger has recorded new rows.
    mutating func recorded() {
        model.refresh()
        // While the user reads the details of a packet, the selection must not change.
        if sticksToEnd, !model.isPaused, focus == .list || focus == .filter { selectNewest() }
    }

    mutating func resized(_ size: TerminalSize) { self.size = size }

    mutating func pressed(_ key: Key) -> Reaction {
        switch key {
        case .control("c"): return .end
        case .control("z"): return .suspend
        case .control("l"): return .drawAnew
        default: break
        }
        switch focus {
        case .filter: typed(key)
        case .help: pressedInHelp(key)
        case .list:
            if key == .character("q") { return .end }
            pressedInList(key)
        case .details:
            if key == .character("q") { return .end }
            pressedInDetails(key)
        }
        return .none
    }

    private mutating func pressedInList(_ key: Key) {
        switch key {
        case .up, .character("k"): move(by: -1)
        case .down, .character("j"): move(by: 1)
        case .pageUp, .control("b"): move(by: -max(1, listHeight - 1))
        case .pageDown, .control("f"): move(by: max(1, listHeight - 1))
        case .home, .character("g"): move(by: -model.rows.count)
        case .end, .character("G"): move(by: model.rows.count)
        case .enter, .right:
            guard model.selection != nil else { return }
            focus = .details
            detailsTop = 0
        case .character(" "):
            guard isFollowing else { return }
            if model.isPaused { model.resume() } else { model.pause() }
            recorded()
        case .escape: if !model.query.isEmpty { search("") }
        case .character("/"), .control("s"): beginFilter()
        case .character("?"), .character("h"), .function(1): beginHelp()
        default: break
        }
    }

    private mutating func pressedInDetails(_ key: Key) {
        switch key {
        case .up, .character("k"): detailsTop -= 1
        case .down, .character("j"): detailsTop += 1
        case .pageUp, .control("b"): detailsTop -= max(1, detailsHeight - 1)
        case .pageDown, .control("f"), .character(" "): detailsTop += max(1, detailsHeight - 1)
        case .home, .character("g"): detailsTop = 0
        case .end, .character("G"): detailsTop = .max / 2
        case .left, .character("p"): move(by: -1)
        case .right, .character("n"): move(by: 1)
        case .tab:
            payloadView = shownView?.next
            showPayload()
        case .enter, .escape: focus = .list
        case .character("/"): beginFilter()
        case .character("?"), .character("h"), .function(1): beginHelp()
        default: break
        }
    }

    private mutating func pressedInHelp(_ key: Key) {
        switch key {
        case .up, .character("k"): helpTop -= 1
        case .down, .character("j"): helpTop += 1
        case .pageUp, .control("b"): helpTop -= max(1, bodyHeight - 1)
        case .pageDown, .control("f"), .character(" "): helpTop += max(1, bodyHeight - 1)
        default: focus = helpedFocus
        }
    }

    private mutating func beginHelp() {
        helpedFocus = focus
        helpTop = 0
        focus = .help
    }

    private mutating func move(by distance: Int) {
        let before = model.selection
        model.moveSelection(by: distance)
        sticksToEnd = model.selection == model.rows.last?.number
        if model.selection != before { detailsTop = 0 }
    }

    /// Scrolls the details to the payload if only a small part of the payload is visible.
    private mutating func showPayload() {
        guard let start = detailsText?.payloadStart else { return }
        if start < detailsTop || start > detailsTop + detailsHeight / 2 { detailsTop = start }
    }

    private mutating func selectNewest() {
        sticksToEnd = true
        guard let last = model.rows.last?.number else { return model.deselect() }
        if last != model.selection { model.select(last) }
    }

    // MARK: Filter

    private mutating func beginFilter() {
        focus = .filter
        filter.set(model.query.text)
        filterError = nil
    }

    private mutating func typed(_ key: Key) {
        switch key {
        case .escape:
            focus = .list
            filterError = nil
        case .enter: search(filter.text)
        default:
            guard filter.handle(key) else { return }
            do throws(MQTTChuckQueryError) {
                _ = try MQTTChuckQuery(filter.text)
                filterError = nil
            } catch {
                filterError = error
            }
        }
    }

    private mutating func search(_ text: String) {
        model.search(text)
        filterError = model.searchError
        guard filterError == nil else { return }
        _ = filter.take()
        focus = .list
        guard let selection = model.selection, model.rows.contains(where: { $0.number == selection }) else {
            return selectNewest()
        }
        sticksToEnd = selection == model.rows.last?.number
    }

    // MARK: Frame

    /// The number of lines below the list of packets.
    private var footerHeight: Int {
        if size.rows < 4 { return 0 }
        if focus == .filter { return 1 + filterHints.count }
        return model.query.isEmpty ? 1 : 2
    }
    private var headerHeight: Int { size.rows < 4 ? 0 : 1 }
    private var bodyHeight: Int { size.rows - headerHeight - footerHeight }
    private var isSplit: Bool { focus == .details && size.rows >= Self.splitHeight }

    private var listHeight: Int {
        switch focus {
        case .details: isSplit ? splitListHeight : 0
        case .help: 0
        case .list, .filter: bodyHeight
        }
    }

    /// The height of the list above the details. A list with few packets is lower, so that the details get more lines.
    private var splitListHeight: Int { min(Self.splitList, max(1, model.rows.count)) }

    /// The height of the details, without the separator line above them.
    private var detailsHeight: Int { isSplit ? bodyHeight - splitListHeight - 1 : bodyHeight }

    private var shownView: PayloadView? { payloadView ?? model.details.map { PayloadView(bestFor: $0.row) } }

    /// Returns the frame for the current state.
    mutating func frame() -> Frame {
        var frame = Frame(size)
        if headerHeight > 0 { putHeader(into: &frame) }
        putList(into: &frame)
        if focus == .details { putDetails(into: &frame) }
        if focus == .help { putHelp(into: &frame) }
        if footerHeight > 0 { putFooter(into: &frame) }
        return frame
    }

    private func putHeader(into frame: inout Frame) {
        let all = model.summary.rowCount
        var state = "\(BenchReport.grouped(all)) packets"
        if !model.query.isEmpty { state = "\(BenchReport.grouped(model.rows.count)) of \(state)" }
        if model.query.isEmpty ? model.rows.count < all : model.rows.count == model.maximumRows {
            state += ", showing the newest \(BenchReport.grouped(model.rows.count))"
        }
        if model.isPaused {
            state += " · paused, new packets: \(BenchReport.grouped(Int(clamping: model.pendingCount)))"
        } else if isFollowing {
            state += " · following"
        }
        let title = GlyphText(name).suffix(width: max(8, size.columns - GlyphText(state).width - 4))
        var line = StyledLine(" ", .bold)
        line.append(title, .bold)
        line.append("  \(state)", .faint)
        line.put(into: &frame, row: 0)
    }

    private mutating func putList(into frame: inout Frame) {
        let height = listHeight
        guard height > 0 else { return }
        let rows = model.rows
        guard !rows.isEmpty else {
            let text =
                model.query.isEmpty ? "There are no packets." : "No packet matches the filter. Esc shows all packets."
            frame.put(text, row: headerHeight, column: 1, style: .faint)
            return
        }
        let selected = rows.firstIndex { $0.number == model.selection }
        var top = rows.firstIndex { $0.number >= listTop } ?? 0
        if let selected { top = min(max(top, selected - height + 1), selected) }
        top = max(0, min(top, rows.count - height))
        listTop = rows[top].number
        for (offset, row) in rows[top..<min(rows.count, top + height)].enumerated() {
            PacketLine(row, width: size.columns).line.put(
                into: &frame, row: headerHeight + offset, isReversed: top + offset == selected)
        }
    }

    private mutating func putDetails(into frame: inout Frame) {
        let lines = detailsText?.lines ?? [StyledLine("The packet is no longer available.", .faint)]
        let top = headerHeight + (isSplit ? splitListHeight + 1 : 0)
        if isSplit {
            frame.put(String(repeating: "─", count: size.columns), row: top - 1, column: 0, style: .faint)
        }
        detailsTop = max(0, min(detailsTop, lines.count - detailsHeight))
        for (offset, line) in lines.dropFirst(detailsTop).prefix(max(0, detailsHeight)).enumerated() {
            line.put(into: &frame, row: top + offset)
        }
    }

    /// The details of the selected packet, laid out for the current width; `nil` without a selection.
    private var detailsText: DetailsText? {
        mutating get {
            guard let details = model.details, let view = shownView else { return nil }
            let row = details.row.number
            if let laidOut, laidOut.row == row, laidOut.view == view, laidOut.width == size.columns {
                return laidOut.text
            }
            let text = DetailsText(details, view, width: size.columns)
            laidOut = LaidOut(row: row, view: view, width: size.columns, text: text)
            return text
        }
    }

    private mutating func putHelp(into frame: inout Frame) {
        let keys = [
            ("↑ ↓ j k", "select a packet"), ("PgUp PgDn Home End", "faster"), ("Enter", "open or close the details"),
            ("Tab", "show the payload as JSON, text or hex"), ("← →", "show the previous or next packet"),
            ("/", "filter the packets; Esc shows all packets"), ("Space", "pause or continue while packets arrive"),
            ("q", "end"),
        ]
        var lines = keys.flatMap { key, meaning in
            GlyphText("\(key): \(meaning)").lines(width: size.columns - 2).map { StyledLine($0) }
        }
        lines.append(.blank)
        lines += GlyphText("A filter consists of words: " + MQTTChuckQuery.help).lines(width: size.columns - 2)
            .map { StyledLine($0) }
        helpTop = max(0, min(helpTop, lines.count - bodyHeight))
        for (offset, line) in lines.dropFirst(helpTop).prefix(max(0, bodyHeight)).enumerated() {
            line.put(into: &frame, row: headerHeight + offset)
        }
    }

    private func putFooter(into frame: inout Frame) {
        let top = size.rows - footerHeight
        guard focus == .filter else {
            if footerHeight > 1 { putFilter(into: &frame, row: top) }
            frame.put(keys, row: size.rows - 1, column: 0, style: .faint)
            return
        }
        putFilter(into: &frame, row: top)
        for (offset, hint) in filterHints.enumerated() {
            frame.put(hint, row: top + 1 + offset, column: 0, style: filterError == nil ? .faint : .coloured(.red))
        }
    }

    /// The lines below the filter input: the error of the filter, or the meaning of the keys.
    private var filterHints: [GlyphText] {
        guard let filterError else { return [GlyphText(keys)] }
        let limit = max(1, min(Self.hintHeight, size.rows - 3))
        return Array(GlyphText("\(filterError)").lines(width: size.columns).prefix(limit))
    }

    private func putFilter(into frame: inout Frame, row: Int) {
        let label = focus == .filter ? "/" : "Filter: "
        let column = frame.put(label, row: row, column: 0, style: .bold)
        guard focus == .filter else {
            frame.put(model.query.text, row: row, column: column, style: .coloured(.yellow))
            return
        }
        let shown = filter.view(width: max(1, size.columns - column))
        frame.put(shown.text, row: row, column: column)
        frame.cursor = Frame.Place(row: row, column: column + shown.cursor)
    }

    /// The keys that have an effect now, with their meanings. The most important keys are first, because a narrow
    /// terminal cuts off the end.
    private var keys: String {
        switch focus {
        case .list:
            "q end  Enter details  / filter  ? help"
                + (isFollowing ? "  Space \(model.isPaused ? "go on" : "pause")" : "")
        case .details: "Esc back  Tab view  ←→ packet  ↑↓ scroll"
        case .filter: "Enter apply  Esc cancel  Examples: errors, -type:pingreq"
        case .help: "↑↓ scroll  Any other key: back"
        }
    }
}
