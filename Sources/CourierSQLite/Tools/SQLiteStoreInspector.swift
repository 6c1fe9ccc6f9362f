public import CourierCore
public import Foundation

/// Looks into a store's file from outside, also while a running process has it: lists, counts and exports.
///
/// ```swift
/// let inspector = try SQLiteStoreInspector(at: file)
/// for (scope, summary) in try inspector.scopes() { print(scope.clientID, scope.broker, summary.outgoingCount) }
/// try inspector.export { line in print(line) }
/// ```
///
/// It takes no lock and changes nothing. What it shows is what was committed when it looked; to remove something,
/// open the file as a ``SQLiteMessageStore``, which needs the process that has it to be closed. An inspector is used
/// by one thread at a time.
public final class SQLiteStoreInspector {
    /// How many rows are read at a time, so that a running store never waits for long to clean up.
    private static let rowsAtATime = 1_000
    /// How many rejected messages are read at a time, since they may be large.
    private static let rejectedAtATime = 100

    private let database: Database
    private let messages: [(ExportedRow.Kind, MessagePages)]
    /// `nil` in a file of a version that has none.
    private let rejected: RejectedPages?
    private let lists: SessionLists
    private let path: String

    /// Opens a store's file for reading.
    ///
    /// - Parameter url: The file.
    /// - Throws: A ``CourierCore/CourierError`` with `storeDamaged` when it is no message store, `storeFailed` when it
    ///   is missing, cannot be read or was written by a newer version of this library.
    public init(at url: URL) throws(CourierError) {
        path = url.path
        do throws(SQLiteFailure) {
            database = try Database(path: path, .reader, system: nil)
            let operation = "looking at the file"
            let applicationID = try database.number("PRAGMA application_id", operation)
            let version = try database.number("PRAGMA user_version", operation)
            guard applicationID == Schema.applicationID else {
                throw SQLiteFailure(
                    extendedCode: SQLiteFailure.noStore, message: "it is no message store", operation: operation)
            }
            guard (1...Schema.current.version).contains(version) else {
                throw SQLiteFailure(
                    extendedCode: SQLiteFailure.wrongVersion,
                    message:
                        "it has version \(version), and this library reads versions up to \(Schema.current.version)",
                    operation: operation)
            }
            messages = [
                (.outgoing, try MessagePages("outgoing", database)),
                (.incoming, try MessagePages("incoming", database)),
            ]
            rejected = version > 1 ? try RejectedPages(database) : nil
            lists = try SessionLists(database)
        } catch {
            throw error.courierError(path: path)
        }
    }

    /// All scopes, with what each holds, in the order of their first use.
    ///
    /// - Returns: The scopes.
    /// - Throws: A `CourierError` when the file cannot be read.
    public func scopes() throws(CourierError) -> [(scope: StoreScope, summary: StoreSummary)] {
        try entries().map { ($0.name, $0.summary) }
    }

    /// How many rejected messages a scope has.
    ///
    /// - Parameter scope: Whose rows.
    /// - Returns: The count; 0 for a scope that the file does not know.
    /// - Throws: A `CourierError` when the file cannot be read.
    public func rejectedCount(of scope: StoreScope) throws(CourierError) -> Int {
        guard rejected != nil, let key = try entries().first(where: { $0.name == scope })?.key else { return 0 }
        let (first, last) = (RowKey.first(of: key).rawValue, RowKey.last(of: key).rawValue)
        return try reading { () throws(SQLiteFailure) in
            let sql = "SELECT count(*) FROM rejected WHERE key BETWEEN \(first) AND \(last)"
            return Int(try database.number(sql, "counting rejected messages"))
        }
    }

    /// Shows all that is stored as JSON Lines: one object for each message, rejected message, packet id and subscription, with its
    /// `kind`, `clientID` and `broker`; payloads and correlation data in Base64.
    ///
    /// - Parameters:
    ///   - scope: Whose rows; `nil` for all scopes.
    ///   - write: Is given one line after the other, without its line break.
    /// - Throws: A `CourierError` when the file cannot be read, or what `write` throws.
    public func export(_ scope: StoreScope? = nil, _ write: (String) throws -> Void) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.dateEncodingStrategy = .iso8601
        func show(_ row: ExportedRow) throws {
            try write(String(decoding: encoder.encode(row), as: UTF8.self))
        }
        for entry in try entries() where scope == nil || scope == entry.name {
            for (kind, pages) in messages {
                try visit(pages, of: entry.key) { try show(ExportedRow(kind, $0.outgoing, in: entry.name)) }
            }
            try visitRejected(of: entry.key) { try show(ExportedRow($0, in: entry.name)) }
            let (packetIDs, subscriptions) = try reading { () throws(SQLiteFailure) in
                (try lists.packetIDs(of: entry.key), try lists.subscriptions(of: entry.key))
            }
            for id in packetIDs.sorted() { try show(ExportedRow(packetID: id, in: entry.name)) }
            for subscription in subscriptions { try show(ExportedRow(subscription, in: entry.name)) }
        }
    }

    private func visit(_ pages: MessagePages, of scope: Int64, _ body: (MessageRow) throws -> Void) throws {
        var next: RowKey? = RowKey.first(of: scope)
        while let first = next {
            let rows = try reading { () throws(SQLiteFailure) -> [MessageRow] in
                var rows: [MessageRow] = []
                try pages.visit(from: first, through: .last(of: scope), limit: Self.rowsAtATime) {
                    row throws(SQLiteFailure) -> Bool in
                    rows.append(row)
                    return true
                }
                return rows
            }
            for row in rows { try body(row) }
            next = rows.last.flatMap { RowKey.behind($0.key.id, in: scope) }
        }
    }

    private func visitRejected(of scope: Int64, _ body: (RejectedMessage) throws -> Void) throws {
        guard let rejected else { return }
        var next: RowKey? = RowKey.first(of: scope)
        while let first = next {
            let messages = try reading { () throws(SQLiteFailure) in
                try rejected.read(from: first, through: .last(of: scope), limit: Self.rejectedAtATime)
            }
            for message in messages { try body(message) }
            next = messages.last.flatMap { RowKey.behind($0.message.id, in: scope) }
        }
    }

    private func entries() throws(CourierError) -> [ScopeLedger.Entry] {
        try reading { () throws(SQLiteFailure) in try ScopeLedger.load(from: database).all }
    }

    private func reading<Value>(_ body: () throws(SQLiteFailure) -> Value) throws(CourierError) -> Value {
        do throws(SQLiteFailure) {
            return try body()
        } catch {
            throw error.courierError(path: path)
        }
    }
}
