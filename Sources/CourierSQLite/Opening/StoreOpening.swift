import CSQLite
import CourierCore
import Foundation

/// Opens a store's file. Creates a missing file, and migrates a file of an older version. Replaces a damaged file by a
/// new file with all rows that can be recovered.
struct StoreOpening: Sendable {
    /// An open file, with the report of a recovery if the file was replaced.
    struct Opened {
        let writer: ChangeWriter
        let recovery: StoreRecovery?
    }

    /// The reason why a file cannot be opened in its current state.
    enum Obstacle: Error {
        case damaged(SQLiteFailure)
        case foreign(applicationID: Int64)
        case other(CourierError)
    }

    let files: DatabaseFiles
    let durability: SQLiteMessageStore.Durability
    let limits: SQLiteMessageStore.Limits
    /// The name of the SQLite VFS; `nil` for the default VFS.
    let system: String?
    var schema = Schema.current

    /// Opens the file. The caller must hold the lock.
    ///
    /// - Parameters:
    ///   - failure: Damage that was already found in this file, even if the file opens without an error; `nil` for
    ///     none.
    ///   - now: The current time, to find scopes that are old enough to be removed.
    /// - Returns: The open file, and the report of a recovery if the file was damaged.
    /// - Throws: An error if the file cannot be opened or recovered.
    func open(damagedBy failure: SQLiteFailure? = nil, now: Date) throws(CourierError) -> Opened {
        try files.finishRecovery()
        files.removeUnfinishedRecovery()
        var recovery: StoreRecovery?
        if let failure { recovery = try recover(from: .damaged(failure)) }
        do throws(Obstacle) {
            return Opened(writer: try openAsIs(now: now), recovery: recovery)
        } catch {
            recovery = try recover(from: error)
        }
        do throws(Obstacle) {
            return Opened(writer: try openAsIs(now: now), recovery: recovery)
        } catch {
            throw self.error(error)
        }
    }

    // MARK: Opening without recovery

    /// Opens another connection to a file that is already open. Throws an error if the file is damaged, and does not
    /// change the file.
    func openAgain(now: Date) throws(CourierError) -> ChangeWriter {
        do throws(Obstacle) {
            return try openAsIs(now: now)
        } catch {
            throw self.error(error)
        }
    }

    private func openAsIs(now: Date) throws(Obstacle) -> ChangeWriter {
        do throws(CourierError) { try files.prepare() } catch { throw .other(error) }
        let result: Result<ChangeWriter, Obstacle>
        do throws(SQLiteFailure) {
            result = try openAsIs(try Database(path: files.path, .owner, system: system), now: now)
        } catch {
            throw error.isDamageOfOpenedFile ? .damaged(error) : .other(error.courierError(path: files.path))
        }
        return try result.get()
    }

    private func openAsIs(_ database: Database, now: Date) throws(SQLiteFailure) -> Result<ChangeWriter, Obstacle> {
        let operation = "examining the file"
        let wasWritable = !database.isReadOnly
        let applicationID = try database.number("PRAGMA application_id", operation)
        let version = try database.number("PRAGMA user_version", operation)
        let isEmpty = try database.number("SELECT count(*) FROM sqlite_schema", operation) == 0
        let isNew = isEmpty && version == 0 && (applicationID == 0 || applicationID == Schema.applicationID)
        let isMarked = isNew || applicationID == Schema.applicationID
        if !isMarked, try !hasTablesOfStore(database, operation) {
            return .failure(.foreign(applicationID: applicationID))
        }
        guard version <= schema.version else { return .failure(.other(newer(version))) }
        guard isNew || isMarked && version > 0 else {
            return .failure(.damaged(Self.wrongHeader(applicationID, version, operation)))
        }
        // SQLite reads the header with the first statement. A damaged header can name a format that SQLite only reads.
        if wasWritable, database.isReadOnly { return .failure(.damaged(Self.readOnlyFormat(operation))) }
        try database.setUp(durability, logBytes: limits.logBytes)
        // Restrict the permissions of the log file now, because SQLite has created the file and has not written to it
        // yet.
        do throws(CourierError) { try files.restrict() } catch { return .failure(.other(error)) }
        try schema.migrate(database, from: isNew ? 0 : version)
        try database.lookThrough()
        let ledger = try ScopeLedger.load(from: database, forgetting: limits.emptyScopeAge, now: now)
        try checkCounts(of: ledger, in: database)
        return .success(ChangeWriter(database, try StoreTables(database), ledger, durability))
    }

    /// If the stored counts are above the limits, compares them with the real counts of the rows. A damaged count would
    /// otherwise make the store refuse all new messages. Counting reads the whole file, so it is not done for counts
    /// within the limits.
    private func checkCounts(of ledger: ScopeLedger, in database: Database) throws(SQLiteFailure) {
        let limit = StoreSize(rows: limits.rows, bytes: limits.bytes)
        guard !ledger.total.fits(limit) else { return }
        func sum(_ message: String, _ subscription: String) throws(SQLiteFailure) -> Int {
            let sql =
                "SELECT coalesce(sum(n), 0) FROM (SELECT \(message) AS n FROM outgoing UNION ALL "
                + "SELECT \(message) FROM incoming UNION ALL SELECT \(subscription) FROM subscription)"
            return Int(clamping: try database.number(sql, "counting the rows"))
        }
        let rows = try sum("1", "1")
        let bytes = try sum("size", "length(CAST(filter AS BLOB))")
        if StoreSize(rows: rows, bytes: bytes).fits(limit) { throw SQLiteFailure.unreadableRow(in: "scope") }
    }

    /// True if the file has all tables of a store, even if its header is damaged.
    private func hasTablesOfStore(_ database: Database, _ operation: String) throws(SQLiteFailure) -> Bool {
        let names = Schema.tables.map { "'\($0)'" }.joined(separator: ", ")
        let sql = "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name IN (\(names))"
        return try database.number(sql, operation) == Int64(Schema.tables.count)
    }

    private static func wrongHeader(_ applicationID: Int64, _ version: Int64, _ operation: String) -> SQLiteFailure {
        SQLiteFailure(
            extendedCode: SQLITE_CORRUPT,
            message: "the header says application \(applicationID), version \(version)", operation: operation)
    }

    private static func readOnlyFormat(_ operation: String) -> SQLiteFailure {
        SQLiteFailure(
            extendedCode: SQLITE_CORRUPT, message: "the header names a format that SQLite cannot write",
            operation: operation)
    }

    private func newer(_ version: Int64) -> CourierError {
        CourierError(
            .storeFailed,
            "The message store \(files.path) has version \(version), "
                + "but this library knows only versions up to \(schema.version). "
                + "Use the newer library that wrote the file, or another file.")
    }

}
