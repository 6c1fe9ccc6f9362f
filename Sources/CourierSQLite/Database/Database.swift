import CSQLite

/// One connection to a database file. It is used by one thread at a time.
package final class Database {
    /// How a file is opened.
    package enum Access {
        /// For reading and writing. The file must exist: SQLite would create it with the permissions of the umask.
        case owner
        /// For reading and writing, without moving the log into the database when it is closed.
        case salvager
        /// For reading only.
        case reader

        fileprivate var flags: Int32 {
            switch self {
            case .owner, .salvager: SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOFOLLOW
            case .reader: SQLITE_OPEN_READONLY
            }
        }
    }

    /// How long a call waits for somebody who reads the file at the moment when it is opened or cleaned up.
    private static let patienceInMilliseconds: Int32 = 5_000

    private var handle: OpaquePointer?
    /// How many pages the log holds since the last commit.
    package private(set) var pagesInLog = 0

    /// Opens a file.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - access: What for.
    ///   - system: The name of the SQLite VFS; `nil` for the usual one.
    /// - Throws: Why it cannot be opened. A file that is no database is found out by the first use.
    package init(path: String, _ access: Access, system: String?) throws(SQLiteFailure) {
        let code = sqlite3_open_v2(path, &handle, access.flags | SQLITE_OPEN_NOMUTEX, system)
        guard code == SQLITE_OK else {
            let failure = failure("opening the file")
            close()
            throw failure
        }
        sqlite3_extended_result_codes(handle, 1)
        sqlite3_busy_timeout(handle, Self.patienceInMilliseconds)
        courier_sqlite3_distrust_schema(handle)
        if access == .salvager { courier_sqlite3_keep_log_on_close(handle) }
        if access == .owner { countPagesInLog() }
    }

    deinit { close() }

    /// Whether a transaction was begun and neither committed nor rolled back, by us or by SQLite.
    package var isInTransaction: Bool { handle.map { sqlite3_get_autocommit($0) == 0 } ?? false }

    /// Whether somebody has a lock for writing on the file. No lock is taken to find out.
    var isWriteLocked: Bool {
        var file: UnsafeMutablePointer<sqlite3_file>?
        guard sqlite3_file_control(handle, "main", SQLITE_FCNTL_FILE_POINTER, &file) == SQLITE_OK, let file,
            let check = file.pointee.pMethods?.pointee.xCheckReservedLock
        else { return false }
        var isLocked: Int32 = 0
        return check(file, &isLocked) == SQLITE_OK && isLocked != 0
    }

    /// Never waits for a lock that somebody else holds.
    package func becomeImpatient() { sqlite3_busy_timeout(handle, 0) }

    /// Runs statements that give no rows, or whose rows do not matter.
    package func execute(_ sql: String, _ operation: String) throws(SQLiteFailure) {
        guard sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK else { throw failure(operation) }
    }

    /// Makes a statement that is used many times. It has to be released before the connection is closed.
    package func prepare(_ sql: String, _ operation: String) throws(SQLiteFailure) -> Statement {
        var statement: OpaquePointer?
        let code = sqlite3_prepare_v3(handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil)
        guard code == SQLITE_OK, let statement else { throw failure(operation) }
        return Statement(statement, operation)
    }

    /// The first column of the first row as a number; 0 without a row.
    package func number(_ sql: String, _ operation: String) throws(SQLiteFailure) -> Int64 {
        let statement = try prepare(sql, operation)
        return try statement.step() ? statement.integer(0) : 0
    }

    /// The first column of the first row as a text; empty without a row.
    package func text(_ sql: String, _ operation: String) throws(SQLiteFailure) -> String {
        let statement = try prepare(sql, operation)
        return try statement.step() ? statement.text(0) ?? "" : ""
    }

    /// Moves pages from the log into the database, as far as no reader is in the way.
    package func checkpoint(emptying: Bool = false) throws(SQLiteFailure) {
        let mode = emptying ? SQLITE_CHECKPOINT_TRUNCATE : SQLITE_CHECKPOINT_PASSIVE
        guard sqlite3_wal_checkpoint_v2(handle, nil, mode, nil, nil) == SQLITE_OK else {
            throw failure("moving the log into the database")
        }
        pagesInLog = 0
    }

    /// Ends the connection; all its statements have to be released before.
    package func close() {
        guard let handle else { return }
        self.handle = nil
        sqlite3_close_v2(handle)
    }

    /// Also ends SQLite's own way of moving the log, which would happen before a commit returns.
    private func countPagesInLog() {
        let count: @convention(c) (UnsafeMutableRawPointer?, OpaquePointer?, UnsafePointer<CChar>?, Int32) -> Int32 = {
            context, _, _, pages in
            guard let context else { return SQLITE_OK }
            // The hook is called inside of a commit of this connection, which its owner keeps alive.
            Unmanaged<Database>.fromOpaque(context).takeUnretainedValue().pagesInLog = Int(pages)
            return SQLITE_OK
        }
        sqlite3_wal_hook(handle, count, Unmanaged.passUnretained(self).toOpaque())
    }

    private func failure(_ operation: String) -> SQLiteFailure {
        guard let handle else {
            return SQLiteFailure(extendedCode: SQLITE_NOMEM, message: "out of memory", operation: operation)
        }
        return SQLiteFailure(
            extendedCode: sqlite3_extended_errcode(handle), message: String(cString: sqlite3_errmsg(handle)),
            operation: operation)
    }
}
