import CourierCore
import Foundation

/// The table of rejected messages. Removes the oldest messages if the limit of the table is exceeded.
struct RejectedTable {
    private let keeping: Statement
    private let insertion: Statement
    private let removal: Statement
    private let emptying: Statement
    private let sizes: Statement
    private let limit: StoreSize
    private let pages: RejectedPages

    init(_ database: Database, limit: StoreSize = RejectedMessage.limit) throws(SQLiteFailure) {
        self.limit = limit
        let operation = "keeping a rejected message"
        let columns = MessageRow.columns
        let place = "(SELECT coalesce(max(place), 0) + 1 FROM rejected), ?2, ?3"
        let target = "INSERT OR REPLACE INTO rejected (\(columns), place, rejected_at, reason)"
        keeping = try database.prepare(
            "\(target) SELECT \(columns), \(place) FROM outgoing WHERE key = ?1 AND size <= ?4", operation)
        insertion = try database.prepare(
            "\(target) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, "
                + "(SELECT coalesce(max(place), 0) + 1 FROM rejected), ?, ?)", operation)
        removal = try database.prepare("DELETE FROM rejected WHERE key = ?", "removing a rejected message")
        emptying = try database.prepare(
            "DELETE FROM rejected WHERE key BETWEEN ? AND ?", "removing the rejected messages of a scope")
        sizes = try database.prepare("SELECT key, size FROM rejected ORDER BY place DESC", operation)
        pages = try RejectedPages(database)
    }

    /// Copies an outgoing row into this table. The caller removes the outgoing row afterwards. Does not copy a row that
    /// is larger than the limit of the whole table.
    func keep(_ key: RowKey, reason: String, at date: Date) throws(SQLiteFailure) {
        try keeping.bind(1, key.rawValue).bind(2, real: date.timeIntervalSinceReferenceDate).bind(3, reason)
            .bind(4, Int64(limit.bytes)).run()
        try removeOldest()
    }

    /// Stores a rejected message that was recovered from a damaged file.
    func insert(_ message: RejectedMessage, _ key: RowKey) throws(SQLiteFailure) {
        insertion.bind(14, Int64(message.outgoing.strikes))
            .bind(15, real: message.rejectedAt.timeIntervalSinceReferenceDate).bind(16, message.reason)
        let size = StoreSize(of: message.message)
        try MessageRow.write(message.message, message.outgoing.progress, key, size: size.bytes, by: insertion)
        try removeOldest()
    }

    /// Removes the oldest rows until the table is within its limit.
    private func removeOldest() throws(SQLiteFailure) {
        var total = StoreSize()
        var excess: [Int64] = []
        while try sizes.step() {
            // A damaged row may have any size. The sum of two such sizes would overflow, so the size is limited, and
            // nothing is added after the limit is exceeded.
            if total.fits(limit) {
                total += StoreSize(rows: 1, bytes: Int(clamping: min(max(sizes.integer(1), 0), Int64(limit.bytes) + 1)))
            }
            if !total.fits(limit) { excess.append(sizes.integer(0)) }
        }
        for key in excess { try removal.bind(1, key).run() }
    }

    func remove(_ key: RowKey) throws(SQLiteFailure) { try removal.bind(1, key.rawValue).run() }

    func removeAll(of scope: Int64) throws(SQLiteFailure) {
        try emptying.bind(1, RowKey.first(of: scope).rawValue).bind(2, RowKey.last(of: scope).rawValue).run()
    }

    /// Reads at most `limit` rows, in the order of their keys, starting with `first`.
    func read(from first: RowKey, through last: RowKey, limit: Int) throws(SQLiteFailure) -> [RejectedMessage] {
        try pages.read(from: first, through: last, limit: limit)
    }
}

/// Reads rejected messages in pages.
struct RejectedPages {
    /// The columns in the order in which ``message(_:)`` reads them.
    static let columns = MessageRow.columns + ", rejected_at, reason"

    private let page: Statement

    init(_ database: Database) throws(SQLiteFailure) {
        page = try database.prepare(
            "SELECT \(Self.columns) FROM rejected WHERE key BETWEEN ? AND ? ORDER BY key LIMIT ?",
            "reading rejected messages")
    }

    /// Returns the key and the message of the current row; `nil` if the row is invalid.
    static func message(_ row: Statement) -> (key: RowKey, message: RejectedMessage)? {
        guard let message = MessageRow(reading: row), !row.isNull(14), let reason = row.text(15) else { return nil }
        let date = Date(timeIntervalSinceReferenceDate: row.real(14))
        return (message.key, RejectedMessage(message.outgoing, reason: reason, rejectedAt: date))
    }

    func read(from first: RowKey, through last: RowKey, limit: Int) throws(SQLiteFailure) -> [RejectedMessage] {
        page.bind(1, first.rawValue).bind(2, last.rawValue).bind(3, Int64(limit))
        defer { page.reset() }
        var found: [RejectedMessage] = []
        while try page.step() {
            guard let (_, message) = Self.message(page) else { throw SQLiteFailure.unreadableRow(in: "rejected") }
            found.append(message)
        }
        return found
    }
}
