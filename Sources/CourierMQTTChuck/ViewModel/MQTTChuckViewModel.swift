import CourierCore
import MQTTCodec

/// The state and the actions of a view that shows a logger. The view itself only draws the state and calls the actions.
///
/// ```swift
/// let model = MQTTChuckViewModel(logger)
/// model.onChange = { [weak view] in view?.setNeedsDisplay() }
/// model.start()
/// model.search("topic:orders/# errors")
/// ```
///
/// The model belongs to the main actor. Between ``start()`` and ``stop()``, it updates when the logger changes, at most
/// once per ``interval``. At other times it updates only when ``refresh()`` is called.
@MainActor public final class MQTTChuckViewModel {
    /// The logger with the rows to show.
    public let logger: MQTTChuckLogger

    /// The maximum number of rows to show. Older rows are not shown, but the logger still holds them.
    public let maximumRows: Int

    /// The shortest time between two reads of the logger.
    public let interval: Duration

    /// A closure that is called after something visible has changed.
    public var onChange: (() -> Void)?

    /// The rows that match the query, in the order of time.
    public private(set) var rows: [MQTTChuckRow] = []

    /// The text in the search box.
    public private(set) var searchText = ""

    /// The reason why the search text cannot be parsed; `nil` if it is valid. The last valid query remains active.
    public private(set) var searchError: MQTTChuckQueryError?

    /// The active query.
    public private(set) var query = MQTTChuckQuery.all

    /// The grouping of rows into sections; no grouping by default.
    public var grouping = MQTTChuckGrouping.none { didSet { if grouping != oldValue { onChange?() } } }

    /// The number of the selected row; `nil` if no row is selected.
    public private(set) var selection: UInt64?

    /// The details of the selected row, or `nil` if no row is selected.
    public private(set) var details: MQTTChuckDetails?

    /// True while the shown rows are frozen. Recording continues.
    public private(set) var isPaused = false

    /// The number of rows recorded since the pause began, whether or not they match the query.
    public private(set) var pendingCount: UInt64 = 0

    /// The summary of the rows that the logger holds.
    public private(set) var summary: MQTTChuckSummary

    private var next: UInt64 = 0
    private var follower: Task<Void, Never>?

    /// Creates a model that shows the rows that the logger holds now.
    ///
    /// - Parameters:
    ///   - logger: The logger with the rows to show.
    ///   - maximumRows: The maximum number of rows to show; 2,000 by default.
    ///   - interval: The shortest time between two reads of the logger; 100 ms by default.
    public init(_ logger: MQTTChuckLogger, maximumRows: Int = 2_000, interval: Duration = .milliseconds(100)) {
        self.logger = logger
        self.maximumRows = max(1, maximumRows)
        self.interval = interval
        summary = logger.summary
        reload()
    }

    deinit { follower?.cancel() }

    // MARK: Following the logger

    /// Follows the logger until ``stop()`` is called or the model is released.
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

    /// Stops following the logger.
    public func stop() {
        follower?.cancel()
        follower = nil
    }

    /// Reads the rows recorded since the last read, and removes rows that the logger has dropped.
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

    /// Adds the new rows. If new rows ended exchanges of earlier rows, checks these earlier rows again. If there are
    /// far more new rows than the view can show, reads all rows again instead.
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

    // MARK: User actions

    /// Shows the rows that match a query. If the text cannot be parsed, only ``searchError`` and ``searchText`` change.
    ///
    /// - Parameter text: The query; an empty text matches all rows.
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

    /// Freezes the shown rows.
    public func pause() {
        isPaused = true
        onChange?()
    }

    /// Shows the rows recorded during the pause, and continues to follow the logger.
    public func resume() {
        guard isPaused else { return }
        isPaused = false
        pendingCount = 0
        summary = logger.summary
        take()
        onChange?()
    }

    /// Removes all rows from the logger.
    public func clear() {
        logger.clear()
        summary = logger.summary
        reload()
        deselect()
    }

    /// Selects a row and loads its details.
    ///
    /// - Parameter number: The row number. If the logger no longer holds the row, the selection becomes empty.
    public func select(_ number: UInt64) {
        details = logger.details(of: number)
        selection = details?.row.number
        onChange?()
    }

    /// Clears the selection.
    public func deselect() {
        (selection, details) = (nil, nil)
        onChange?()
    }

    /// Moves the selection down by a number of rows, or up if the number is negative. It stops at the ends of the list.
    ///
    /// - Parameter distance: The number of rows.
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

    /// The rows in sections according to ``grouping``. Sections are in the order of their first rows.
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
