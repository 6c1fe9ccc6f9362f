import CSQLite

/// One connection to a database file. Only one thread at a time uses the connection.
package final class Database {
    /// The way in which a file is opened.
    package enum Access {
        /// Access for reading and writing. The file must exist, because SQLite would create a missing file with the
        /// permissions of the umask.
        case owner
        /// Access for reading and writing. When the connection is closed, SQLite does not move the contents of the log
        /// into the database.
        case salvager
        /// Access for reading only.
        case reader

        fileprivate var flags: Int32 {
            switch self {
            case .owner, .salvager: SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOFOLLOW
            case .reader: SQLITE_OPEN_READONLY
            }
        }
    }

    /// The time that a call waits for a lock that another connection holds. For example, opening or cleaning up the
    /// file may wait for a reader.
    private static let patienceInMilliseconds: Int32 = 5_000

    private var handle: OpaquePointer?
    /// The number of pages in the log after the last commit.
    package private(set) var pagesInLog = 0

    /// Opens a file.
    ///
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - access: The way in which the file is opened.
    ///   - system: The name of the SQLite VFS; `nil` for the default VFS.
    /// - Throws: A failure if the file cannot be opened. SQLite detects only later, at first use, that a file is not a
    ///   database.
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

    /// True while a transaction is open. False also after SQLite itself has rolled back the transaction.
    package var isInTransaction: Bool { handle.map { sqlite3_get_autocommit($0) == 0 } ?? false }

    /// True if any connection holds a write lock on the file. The check itself takes no lock.
    var isWriteLocked: Bool {
        var file: UnsafeMutablePointer<sqlite3_file>?
        guard sqlite3_file_control(handle, "main", SQLITE_FCNTL_FILE_POINTER, &file) == SQLITE_OK, let file,
            let check = file.pointee.pMethods?.pointee.xCheckReservedLock
        else { return false }
        var isLocked: Int32 = 0
        return check(file, &isLocked) == SQLITE_OK && isLocked != 0
    }

    /// True if SQLite cannot write to the file. Before the first statement, the only reasons are the permissions of the
    /// user or a disk that does not allow writing. Later, the header of the file may be a further reason.
    var isReadOnly: Bool { sqlite3_db_readonly(handle, "main") == 1 }

    /// Makes every later call fail at once if another connection holds a lock.
    package func becomeImpatient() { sqlite3_busy_timeout(handle, 0) }

    /// Runs SQL statements and ignores their rows.
    package func execute(_ sql: String, _ operation: String) throws(SQLiteFailure) {
        guard sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK else { throw failure(operation) }
    }

    /// Prepares a statement that is used many times. The caller must release the statement before it closes the
    /// connection.
    package func prepare(_ sql: String, _ operation: String) throws(SQLiteFailure) -> Statement {
        var statement: OpaquePointer?
        let code = sqlite3_prepare_v3(handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil)
        guard code == SQLITE_OK, let statement else { throw failure(operation) }
        return Statement(statement, operation)
    }

    /// Returns the first column of the first row as a number; 0 if there is no row.
    package func number(_ sql: String, _ operation: String) throws(SQLiteFailure) -> Int64 {
        let statement = try prepare(sql, operation)
        return try statement.step() ? statement.integer(0) : 0
    }

    /// Returns the first column of the first row as text; an empty string if there is no row.
    package func text(_ sql: String, _ operation: String) throws(SQLiteFailure) -> String {
        let statement = try prepare(sql, operation)
        return try statement.step() ? statement.text(0) ?? "" : ""
    }

    /// Moves pages from the log into the database, up to the first page that a reader still needs. If `emptying` is
    /// true, first waits for readers, moves all pages, and empties the log.
    package func checkpoint(emptying: Bool = false) throws(SQLiteFailure) {
        let mode = emptying ? SQLITE_CHECKPOINT_TRUNCATE : SQLITE_CHECKPOINT_PASSIVE
        guard sqlite3_wal_checkpoint_v2(handle, nil, mode, nil, nil) == SQLITE_OK else {
            throw failure("moving the log into the database")
        }
        pagesInLog = 0
    }

    /// Closes the connection. The caller must have released all statements of the connection.
    package func close() {
        guard let handle else { return }
        self.handle = nil
        sqlite3_close_v2(handle)
    }

    /// Registers a function that SQLite calls after each commit, to count the pages in the log. This function also
    /// replaces SQLite's automatic checkpoint, which would run before a commit returns.
    private func countPagesInLog() {
        let count: @convention(c) (UnsafeMutableRawPointer?, OpaquePointer?, UnsafePointer<CChar>?, Int32) -> Int32 = {
            context, _, _, pages in
            guard let context else { return SQLITE_OK }
            // The pointer is valid: SQLite calls the hook during a commit of this connection, and the caller of the
            // commit keeps this object alive.
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
