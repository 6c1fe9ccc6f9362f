import CourierCore

/// Reads a message table in pages. The table may belong to a file of an older version.
struct MessagePages {
    private let name: String
    private let page: Statement
    /// The statement that reads a page without queued messages.
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

    /// Calls `body` once for each row, in the order of the keys. Stops after `limit` rows, or when `body` returns
    /// `false`. If `areSent` is true, skips queued messages.
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
