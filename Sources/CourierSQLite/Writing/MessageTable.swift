import CourierCore

/// One of the two tables of messages: its rows by key.
struct MessageTable {
    /// What a row counted.
    struct Figures {
        var payloadBytes: Int
        var size: StoreSize
    }

    /// The size of a row that MQTT's limits allow, with much to spare.
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
            "UPDATE \(name) SET strikes = ?2 WHERE key = ?1", "storing the strikes of a message")
        pages = try MessagePages(name, database)
        emptying = try database.prepare(
            "DELETE FROM \(name) WHERE key BETWEEN ? AND ?", "removing the messages of a scope")
    }

    /// Adds a row whose key is not there.
    func insert(
        _ message: StoredMessage, _ progress: StoredOutgoing.Progress, _ key: RowKey
    ) throws(SQLiteFailure) -> Figures {
        let size = StoreSize(of: message)
        try MessageRow.write(message, progress, key, size: size.bytes, by: insertion)
        let figures = Figures(payloadBytes: message.payload.count, size: size)
        recent.note(figures, of: key)
        return figures
    }

    /// Forgets what it knows of rows beside the file: a transaction was taken back.
    func forgetRecentRows() { recent.removeAll() }

    /// Removes a row.
    ///
    /// - Returns: What it counted; `nil` when it is not there.
    func remove(_ key: RowKey) throws(SQLiteFailure) -> Figures? {
        if let figures = recent.take(key) {
            // The row may be gone with others of its scope.
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

    /// Shows at most `limit` rows from a key on, or only those that are not queued, until the body has enough and says
    /// `false`.
    func visit(
        from first: RowKey, through last: RowKey, limit: Int, areSent: Bool = false,
        _ body: (MessageRow) throws(SQLiteFailure) -> Bool
    ) throws(SQLiteFailure) {
        try pages.visit(from: first, through: last, limit: limit, areSent: areSent, body)
    }
}

/// What rows counted that were written not long ago. Most are removed soon, and need not be read for it then.
private final class RecentFigures {
    private static let capacity = 4_096

    /// By the last bits of the key.
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
