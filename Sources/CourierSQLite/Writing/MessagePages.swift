import CourierCore

/// Reads a table of messages by pages. The table may be one of an older version.
struct MessagePages {
    private let name: String
    private let page: Statement
    /// The page of those that are not queued.
    private let sentPage: Statement

    init(_ name: String, _ database: Database) throws(SQLiteFailure) {
        self.name = name
        let columns = MessageRow.columns(of: name, in: database)
        page = try database.prepare(
            "SELECT \(columns) FROM \(name) WHERE key BETWEEN ? AND ? ORDER BY key LIMIT ?", "reading messages")
        sentPage = try database.prepare(
            "SELECT \(columns) FROM \(name) WHERE key BETWEEN ? AND ? "
                + "AND progress <> \(StoredOutgoing.Progress.queued.stored) ORDER BY key LIMIT ?", "reading messages")
    }

    /// Shows at most `limit` rows from a key on, or only those that are not queued, until the body has enough and says
    /// `false`.
    func visit(
        from first: RowKey, through last: RowKey, limit: Int, areSent: Bool = false,
        _ body: (MessageRow) throws(SQLiteFailure) -> Bool
    ) throws(SQLiteFailure) {
        let page = areSent ? sentPage : page
        page.bind(1, first.rawValue).bind(2, last.rawValue).bind(3, Int64(limit))
        defer { page.reset() }
        while try page.step() {
            guard let row = MessageRow(reading: page) else { throw SQLiteFailure.unreadableRow(in: name) }
            guard try body(row) else { return }
        }
    }
}
