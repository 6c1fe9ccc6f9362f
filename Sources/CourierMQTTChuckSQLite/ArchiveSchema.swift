import CourierSQLite

/// The tables of an archive.
enum ArchiveSchema {
    /// "Chuk": the mark by which a file is known as an archive.
    static let applicationID: Int64 = 0x4368_756B
    static let version: Int64 = 1

    // A connection is the line that an export as JSON Lines has of it; `last` is its newest row. Of a packet the bytes
    // stand last, so that nothing else is read across their pages. `start` is the row that began its exchange.
    private static let tables = """
        CREATE TABLE connection (key INTEGER PRIMARY KEY, line TEXT NOT NULL, last INTEGER NOT NULL);
        CREATE TABLE packet (
            number INTEGER PRIMARY KEY, connection INTEGER NOT NULL, time INTEGER NOT NULL,
            is_outgoing INTEGER NOT NULL, size INTEGER NOT NULL, alias INTEGER, topic TEXT, start INTEGER,
            elapsed INTEGER, is_last INTEGER, bytes BLOB NOT NULL);
        """

    /// What a file is found to be.
    enum Finding {
        case empty
        case archive
        /// Made by a later version of this library.
        case newer(Int64)
    }

    /// Looks at a file.
    ///
    /// - Throws: A failure that is damage when it is a database of something else, or none.
    static func look(at database: Database) throws(SQLiteFailure) -> Finding {
        let operation = "looking at the file"
        let applicationID = try database.number("PRAGMA application_id", operation)
        let version = try database.number("PRAGMA user_version", operation)
        let isEmpty = try database.number("SELECT count(*) FROM sqlite_schema", operation) == 0
        if isEmpty, version == 0, applicationID == 0 { return .empty }
        guard applicationID == self.applicationID else { throw .foreign(applicationID: applicationID) }
        guard version <= self.version else { return .newer(version) }
        // Views by these names could be without end.
        let tables = try database.number(
            "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name IN ('connection', 'packet')", operation)
        guard tables == 2 else { throw .foreign(applicationID: applicationID) }
        return .archive
    }

    /// Makes the tables of an empty file, in one transaction.
    static func make(in database: Database) throws(SQLiteFailure) {
        let operation = "making the tables"
        try database.execute("BEGIN IMMEDIATE", operation)
        do throws(SQLiteFailure) {
            try database.execute(tables, operation)
            try database.execute(
                "PRAGMA application_id = \(applicationID); PRAGMA user_version = \(version)", operation)
            try database.execute("COMMIT", operation)
        } catch {
            if database.isInTransaction { try? database.execute("ROLLBACK", operation) }
            throw error
        }
    }
}
