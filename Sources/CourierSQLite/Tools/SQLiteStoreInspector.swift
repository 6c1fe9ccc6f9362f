public import CourierCore
public import Foundation

/// Reads a store's file without the store, even while a process uses the store. Lists scopes, counts rows, and exports
/// rows.
///
/// ```swift
/// let inspector = try SQLiteStoreInspector(at: file)
/// for (scope, summary) in try inspector.scopes() { print(scope.clientID, scope.broker, summary.outgoingCount) }
/// try inspector.export { line in print(line) }
/// ```
///
/// An inspector takes no lock and changes nothing. It shows the state that was committed at the time of reading. To
/// remove rows, open the file as a ``SQLiteMessageStore``. The process that uses the store must close it first. Use an
/// inspector on one thread at a time.
public final class SQLiteStoreInspector {
    /// The number of rows that are read at a time. Short reads let a running store clean up its log without a long
    /// wait.
    private static let rowsAtATime = 1_000
    /// The number of rejected messages that are read at a time. The number is small, because rejected messages may be
    /// large.
    private static let rejectedAtATime = 100
    /// The number of jobs that are read at a time. The number is small, because messages may be large.
    private static let jobsAtATime = 100

    private let database: Database
    private let messages: [(ExportedRow.Kind, MessagePages)]
    /// Reads the rejected messages; `nil` if the file's version has no table for them.
    private let rejected: RejectedPages?
    /// Reads the jobs; `nil` if the file's version has no tables for them.
    private let jobPages: JobPages?
    private let lists: SessionLists
    private let path: String

    /// Opens a store's file for reading.
    ///
    /// - Parameter url: The URL of the file.
    /// - Throws: A ``CourierCore/CourierError`` with the code `storeDamaged` if the file is not a message store. The
    ///   code is `storeFailed` if the file is missing, cannot be read, or was written by a newer version of this
    ///   library.
    public init(at url: URL) throws(CourierError) {
        path = url.path
        do throws(SQLiteFailure) {
            database = try Database(path: path, .reader, system: nil)
            let operation = "examining the file"
            let applicationID = try database.number("PRAGMA application_id", operation)
            let version = try database.number("PRAGMA user_version", operation)
            guard applicationID == Schema.applicationID else {
                throw SQLiteFailure(
                    extendedCode: SQLiteFailure.noStore, message: "the file is not a message store",
                    operation: operation)
            }
            guard (1...Schema.current.version).contains(version) else {
                throw SQLiteFailure(
                    extendedCode: SQLiteFailure.wrongVersion,
                    message:
                        "the file has version \(version), but this library reads only up to \(Schema.current.version)",
                    operation: operation)
            }
            messages = [
                (.outgoing, try MessagePages("outgoing", database)),
                (.incoming, try MessagePages("incoming", database)),
            ]
            rejected = version > 1 ? try RejectedPages(database) : nil
            jobPages = version > 3 ? try JobPages(database) : nil
            lists = try SessionLists(database)
        } catch {
            throw error.courierError(path: path)
        }
    }

    /// Returns all scopes with their counts.
    ///
    /// - Returns: The scopes in the order of their keys, which is usually the order of their first use.
    /// - Throws: A `CourierError` if the file cannot be read.
    public func scopes() throws(CourierError) -> [(scope: StoreScope, summary: StoreSummary)] {
        try entries().map { ($0.name, $0.summary) }
    }

    /// Returns the number of rejected messages of a scope.
    ///
    /// - Parameter scope: The scope.
    /// - Returns: The number; 0 if the file does not have the scope.
    /// - Throws: A `CourierError` if the file cannot be read.
    public func rejectedCount(of scope: StoreScope) throws(CourierError) -> Int {
        guard rejected != nil, let key = try entries().first(where: { $0.name == scope })?.key else { return 0 }
        let (first, last) = (RowKey.first(of: key).rawValue, RowKey.last(of: key).rawValue)
        return try reading { () throws(SQLiteFailure) in
            let sql = "SELECT count(*) FROM rejected WHERE key BETWEEN \(first) AND \(last)"
            return Int(try database.number(sql, "counting rejected messages"))
        }
    }

    /// Returns the numbers of jobs and of parked messages of a scope; 0 if the file does not have the scope.
    package func jobCounts(of scope: StoreScope) throws(CourierError) -> (waiting: Int, parked: Int) {
        guard jobPages != nil, let key = try entries().first(where: { $0.name == scope })?.key else { return (0, 0) }
        let (first, last) = (RowKey.first(of: key).rawValue, RowKey.last(of: key).rawValue)
        return try reading { () throws(SQLiteFailure) in
            let sql = "SELECT count(*) FROM job_state WHERE key BETWEEN \(first) AND \(last) AND pause IS"
            let operation = "counting jobs"
            return (
                Int(try database.number("\(sql) NOT NULL", operation)),
                Int(try database.number("\(sql) NULL", operation))
            )
        }
    }

    /// Calls `body` with each job of a scope, in the order of their ids. Parked messages are jobs, too.
    package func visitJobs(of scope: StoreScope, _ body: (StoredJob) throws -> Void) throws {
        guard let key = try entries().first(where: { $0.name == scope })?.key else { return }
        try visitJobs(of: key, body)
    }

    /// Calls `write` with one line for each job of a scope that `isMeant` accepts. The line has the format of
    /// ``export(_:_:)``.
    package func exportJobs(_ scope: StoreScope, where isMeant: (StoredJob) -> Bool, _ write: (String) throws -> Void)
        throws
    {
        let encoder = Self.encoder
        try visitJobs(of: scope) { job in
            if isMeant(job) { try write(Self.line(ExportedRow(job, in: scope), encoder)) }
        }
    }

    private static var encoder: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.dateEncodingStrategy = .iso8601
        return encoder
    }

    private static func line(_ row: ExportedRow, _ encoder: JSONEncoder) throws -> String {
        String(decoding: try encoder.encode(row), as: UTF8.self)
    }

    /// Exports all stored rows as JSON Lines, with one JSON object for each message, rejected message, job, packet id
    /// and subscription.
    ///
    /// Each object has a `kind`, a `clientID` and a `broker`. Payloads and correlation data are Base64.
    ///
    /// - Parameters:
    ///   - scope: The scope whose rows are exported; `nil` for all scopes.
    ///   - write: Called for each line, without its line break.
    /// - Throws: A `CourierError` if the file cannot be read; an error that `write` throws.
    public func export(_ scope: StoreScope? = nil, _ write: (String) throws -> Void) throws {
        let encoder = Self.encoder
        func show(_ row: ExportedRow) throws { try write(Self.line(row, encoder)) }
        for entry in try entries() where scope == nil || scope == entry.name {
            for (kind, pages) in messages {
                try visit(pages, of: entry.key) { try show(ExportedRow(kind, $0.outgoing, in: entry.name)) }
            }
            try visitRejected(of: entry.key) { try show(ExportedRow($0, in: entry.name)) }
            try visitJobs(of: entry.key) { try show(ExportedRow($0, in: entry.name)) }
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

    private func visitJobs(of scope: Int64, _ body: (StoredJob) throws -> Void) throws {
        guard let jobPages else { return }
        var next: RowKey? = RowKey.first(of: scope)
        while let first = next {
            let jobs = try reading { () throws(SQLiteFailure) in
                try jobPages.read(from: first, through: .last(of: scope), limit: Self.jobsAtATime)
            }
            for job in jobs { try body(job) }
            next = jobs.last.flatMap { RowKey.behind($0.message.id, in: scope) }
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
