import CourierCore

/// One of the two message tables, `outgoing` or `incoming`, with the statements that access its rows.
struct MessageTable {
    /// The sizes of one row, as counted for its scope.
    struct Figures {
        var payloadBytes: Int
        var size: StoreSize
    }

    /// The range of valid row sizes. Its upper limit is far above the sizes that MQTT allows.
    private static let plausible: ClosedRange<Int64> = 0...1 << 40

    let name: String
    private let insertion: Statement
    private let figures: Statement
    private let removal: Statement
    private let progress: Statement
    private let strikes: Statement
    private let emptying: Statement
    private let pages: MessagePages
    private let recent = RecentFigures()

    init(_ name: String, _ database: Database) throws(SQLiteFailure) {
        self.name = name
        let columns = MessageRow.columns
        insertion = try database.prepare(
            "INSERT INTO \(name) (\(columns)) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, NULL)", "storing a message"
        )
        figures = try database.prepare(
            "SELECT length(payload), size FROM \(name) WHERE key = ?", "removing a message")
        removal = try database.prepare("DELETE FROM \(name) WHERE key = ?", "removing a message")
        progress = try database.prepare(
            "UPDATE \(name) SET progress = ?2 WHERE key = ?1", "storing the progress of a message")
        strikes = try database.prepare(
            "UPDATE \(name) SET strikes = ?2 WHERE key = ?1",
            "storing the number of connections that a message has ended")
        pages = try MessagePages(name, database)
        emptying = try database.prepare(
            "DELETE FROM \(name) WHERE key BETWEEN ? AND ?", "removing the messages of a client")
    }

    /// Adds a row. The table must not have a row with this key.
    func insert(
        _ message: StoredMessage, _ progress: StoredOutgoing.Progress, _ key: RowKey
    ) throws(SQLiteFailure) -> Figures {
        let size = StoreSize(of: message)
        try MessageRow.write(message, progress, key, size: size.bytes, by: insertion)
        let figures = Figures(payloadBytes: message.payload.count, size: size)
        recent.note(figures, of: key)
        return figures
    }

    /// Clears the cached sizes of recent rows. Call this function after a rollback, because the cached rows may not
    /// exist any more.
    func forgetRecentRows() { recent.removeAll() }

    /// Removes a row.
    ///
    /// - Returns: The sizes of the row; `nil` if there is no row with this key.
    func remove(_ key: RowKey) throws(SQLiteFailure) -> Figures? {
        if let figures = recent.take(key) {
            // Return the cached sizes only if this call has removed the row. Otherwise the row was removed earlier, for
            // example together with all rows of its scope.
            return try removal.bind(1, key.rawValue).runAndCount() > 0 ? figures : nil
        }
        guard try figures.bind(1, key.rawValue).step() else { return nil }
        let (payload, size) = (figures.integer(0), figures.integer(1))
        figures.reset()
        guard Self.plausible.contains(payload), Self.plausible.contains(size) else {
            throw SQLiteFailure.unreadableRow(in: name)
        }
        try removal.bind(1, key.rawValue).run()
        return Figures(payloadBytes: Int(payload), size: StoreSize(rows: 1, bytes: Int(size)))
    }

    func setProgress(_ value: StoredOutgoing.Progress, _ key: RowKey) throws(SQLiteFailure) {
        try progress.bind(1, key.rawValue).bind(2, value.stored).run()
    }

    func setStrikes(_ count: Int, _ key: RowKey) throws(SQLiteFailure) {
        try strikes.bind(1, key.rawValue).bind(2, Int64(min(max(count, 0), Int(Int32.max)))).run()
    }

    func removeAll(of scope: Int64) throws(SQLiteFailure) {
        try emptying.bind(1, RowKey.first(of: scope).rawValue).bind(2, RowKey.last(of: scope).rawValue).run()
    }

    /// Calls `body` with at most `limit` rows, in the order of their keys, until `body` returns `false`. If `areSent`
    /// is true, skips queued messages.
    func visit(
        from first: RowKey, through last: RowKey, limit: Int, areSent: Bool = false,
        _ body: (MessageRow) throws(SQLiteFailure) -> Bool
    ) throws(SQLiteFailure) {
        try pages.visit(from: first, through: last, limit: limit, areSent: areSent, body)
    }
}

/// A cache of the sizes of recently written rows. Most rows are removed soon after they are written. A removal takes
/// the size from the cache, and so need not read the row.
private final class RecentFigures {
    private static let capacity = 4_096

    /// The cached sizes. The index of a row is the lowest bits of its key, so a newer row replaces an older row with
    /// the same index.
    private var places: [(key: Int64, figures: MessageTable.Figures)] = []

    func note(_ figures: MessageTable.Figures, of key: RowKey) {
        if places.isEmpty {
            let none = MessageTable.Figures(payloadBytes: 0, size: StoreSize())
            places = Array(repeating: (-1, none), count: Self.capacity)
        }
        places[Self.place(of: key)] = (key.rawValue, figures)
    }

    func take(_ key: RowKey) -> MessageTable.Figures? {
        guard !places.isEmpty, places[Self.place(of: key)].key == key.rawValue else { return nil }
        places[Self.place(of: key)].key = -1
        return places[Self.place(of: key)].figures
    }

    func removeAll() { places = [] }

    private static func place(of key: RowKey) -> Int { Int(truncatingIfNeeded: key.rawValue) & (capacity - 1) }
}
