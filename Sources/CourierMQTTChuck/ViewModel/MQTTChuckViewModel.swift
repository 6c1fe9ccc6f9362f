import CourierCore
import MQTTCodec

/// What a view of a logger shows, and what its user can do: so that a view has nothing to decide.
///
/// ```swift
/// let model = MQTTChuckViewModel(logger)
/// model.onChange = { [weak view] in view?.setNeedsDisplay() }
/// model.start()
/// model.search("topic:orders/# errors")
/// ```
///
/// It belongs to the main actor. Between ``start()`` and ``stop()`` it follows the logger, at most once every
/// ``interval``; without that it shows what ``refresh()`` finds.
@MainActor public final class MQTTChuckViewModel {
    /// Where the rows come from.
    public let logger: MQTTChuckLogger

    /// The most rows that are shown; the oldest of them are left out, but not dropped from the logger.
    public let maximumRows: Int

    /// The least time between two looks at the logger.
    public let interval: Duration

    /// Called after something that a view shows has changed.
    public var onChange: (() -> Void)?

    /// The rows that match, in the order of time.
    public private(set) var rows: [MQTTChuckRow] = []

    /// What the search box holds.
    public private(set) var searchText = ""

    /// Why the search box cannot be read; the last query that could be read stays in force.
    public private(set) var searchError: MQTTChuckQueryError?

    /// The query in force.
    public private(set) var query = MQTTChuckQuery.all

    /// How rows are put together; none by default.
    public var grouping = MQTTChuckGrouping.none { didSet { if grouping != oldValue { onChange?() } } }

    /// The number of the row that is selected.
    public private(set) var selection: UInt64?

    /// All about the selected row; `nil` when there is none.
    public private(set) var details: MQTTChuckDetails?

    /// Whether the rows stand still while recording continues.
    public private(set) var isPaused = false

    /// How many rows have come since the pause began, matching or not.
    public private(set) var pendingCount: UInt64 = 0

    /// What the logger keeps.
    public private(set) var summary: MQTTChuckSummary

    private var next: UInt64 = 0
    private var follower: Task<Void, Never>?

    /// Makes a model that shows what the logger keeps now.
    ///
    /// - Parameters:
    ///   - logger: Where the rows come from.
    ///   - maximumRows: The most rows that are shown; 2,000 by default.
    ///   - interval: The least time between two looks at the logger; 100 ms by default.
    public init(_ logger: MQTTChuckLogger, maximumRows: Int = 2_000, interval: Duration = .milliseconds(100)) {
        self.logger = logger
        self.maximumRows = max(1, maximumRows)
        self.interval = interval
        summary = logger.summary
        reload()
    }

    deinit { follower?.cancel() }

    // MARK: Following

    /// Follows the logger until ``stop()``, or until the model is gone.
    public func start() {
        guard follower == nil else { return }
        follower = Task { @MainActor [weak self, changes = logger.changes, interval] in
            for await _ in changes {
                guard let self else { return }
                self.refresh()
                do { try await Task.sleep(for: interval) } catch { return }
            }
        }
    }

    /// Stops following.
    public func stop() {
        follower?.cancel()
        follower = nil
    }

    /// Takes what has come since the last look, and lets go of what the logger has dropped.
    public func refresh() {
        let before = summary
        summary = logger.summary
        if summary.clearCount != before.clearCount {
            reload()
            deselectIfGone()
            onChange?()
            return
        }
        if isPaused {
            pendingCount = summary.nextRow - min(next, summary.nextRow)
        } else if summary.nextRow > next {
            take()
        }
        if summary != before { onChange?() }
    }

    /// Adds what is new, and looks again at what it has changed; reads everything again when more is new than can be
    /// shown.
    private func take() {
        if (summary.nextRow - next) / 4 > UInt64(maximumRows) { return reload() }
        next = logger.firstRow(endedBy: next..<max(next, summary.nextRow), for: query) ?? next
        while let last = rows.last, last.number >= next { rows.removeLast() }
        while true {
            let page = logger.rows(from: next, matching: query)
            rows += page.rows
            guard page.next > next, page.next < summary.nextRow else { break }
            next = page.next
        }
        next = summary.nextRow
        rows.removeAll { $0.number < summary.firstRow }
        if rows.count > maximumRows { rows.removeFirst(rows.count - maximumRows) }
    }

    private func reload() {
        let page = logger.rows(before: summary.nextRow, matching: query, limit: maximumRows)
        rows = page.rows
        next = summary.nextRow
        pendingCount = 0
    }

    // MARK: What the user does

    /// Shows the rows that a query asks for. A text that cannot be read sets ``searchError`` and changes nothing else.
    ///
    /// - Parameter text: The query; empty for all rows.
    public func search(_ text: String) {
        searchText = text
        do throws(MQTTChuckQueryError) {
            query = try MQTTChuckQuery(text)
            searchError = nil
            summary = logger.summary
            reload()
        } catch {
            searchError = error
        }
        onChange?()
    }

    /// Lets the rows stand still.
    public func pause() {
        isPaused = true
        onChange?()
    }

    /// Shows what has come meanwhile and continues.
    public func resume() {
        guard isPaused else { return }
        isPaused = false
        pendingCount = 0
        summary = logger.summary
        take()
        onChange?()
    }

    /// Drops all rows of the logger.
    public func clear() {
        logger.clear()
        summary = logger.summary
        reload()
        deselect()
    }

    /// Selects a row and looks up its details.
    ///
    /// - Parameter number: The number of the row; nothing is selected when it is not kept any more.
    public func select(_ number: UInt64) {
        details = logger.details(of: number)
        selection = details?.row.number
        onChange?()
    }

    /// Selects nothing.
    public func deselect() {
        (selection, details) = (nil, nil)
        onChange?()
    }

    /// Selects the row that many places further down, or up for a negative number; stays within the list.
    ///
    /// - Parameter distance: How many rows.
    public func moveSelection(by distance: Int) {
        guard !rows.isEmpty else { return }
        let place = rows.firstIndex { $0.number == selection }
        let start = place ?? (distance > 0 ? -1 : rows.count)
        select(rows[min(max(0, start + distance), rows.count - 1)].number)
    }

    private func deselectIfGone() {
        if let selection, selection < summary.firstRow { (self.selection, details) = (nil, nil) }
    }

    // MARK: Sections

    /// The rows as ``grouping`` puts them together; sections in the order of their first rows.
    public var sections: [MQTTChuckSection] {
        switch grouping {
        case .none:
            return rows.first.map { [MQTTChuckSection(id: $0.number, title: "", rows: rows)] } ?? []
        case .connection:
            return grouped {
                $0.connection.id
            } title: { row in
                let connection = row.connection
                return
                    "\(connection.clientID) on \(connection.host):\(connection.port), connection \(connection.ordinal)"
            }
        case .exchange:
            return grouped {
                $0.exchange ?? $0.number
            } title: { row in
                "\(row.typeName)\(row.packetID.map { " \($0)" } ?? "")\(row.topic.map { " \($0)" } ?? "")"
            }
        }
    }

    private func grouped(
        by key: (MQTTChuckRow) -> UInt64, title: (MQTTChuckRow) -> String
    ) -> [MQTTChuckSection] {
        var order: [UInt64] = []
        var groups: [UInt64: [MQTTChuckRow]] = [:]
        for row in rows {
            let key = key(row)
            if groups[key] == nil { order.append(key) }
            groups[key, default: []].append(row)
        }
        return order.compactMap { key in
            guard let rows = groups[key], let first = rows.first else { return nil }
            return MQTTChuckSection(id: first.number, title: title(first), rows: rows)
        }
    }
}
