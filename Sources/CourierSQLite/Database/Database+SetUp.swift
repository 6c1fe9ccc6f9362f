import CSQLite

extension Database {
    /// The number of pages up to which a file is checked when it is opened. In a larger file, damage is found only when
    /// a damaged page is read.
    private static let pagesLookedThrough: Int64 = 1_024

    private static let settingUp = "setting up the file"

    /// Applies the settings of a connection. For a new file, also applies the permanent settings of the file.
    package func setUp(_ durability: SQLiteMessageStore.Durability, logBytes: Int) throws(SQLiteFailure) {
        // This setting has no effect on a file with tables.
        try execute("PRAGMA auto_vacuum = INCREMENTAL", Self.settingUp)
        guard try text("PRAGMA journal_mode = WAL", Self.settingUp) == "wal" else {
            throw SQLiteFailure(
                extendedCode: SQLITE_CANTOPEN, message: "the file system offers no write-ahead log",
                operation: Self.settingUp)
        }
        let synchronous =
            switch durability {
            case .full: "FULL"
            case .normal: "NORMAL"
            }
        try execute(
            """
            PRAGMA synchronous = \(synchronous); PRAGMA journal_size_limit = \(logBytes);
            PRAGMA secure_delete = FAST; PRAGMA cache_size = -4096; PRAGMA temp_store = MEMORY
            """, Self.settingUp)
    }

    /// Checks a small file for damage.
    ///
    /// - Throws: A failure whose `isDamage` is true if the file is damaged.
    package func lookThrough() throws(SQLiteFailure) {
        guard try number("PRAGMA page_count", Self.settingUp) <= Self.pagesLookedThrough else { return }
        let operation = "checking the file"
        let finding = try text("PRAGMA integrity_check(1)", operation)
        guard finding == "ok" else {
            throw SQLiteFailure(extendedCode: SQLITE_CORRUPT, message: finding, operation: operation)
        }
    }
}
