import CourierSQLite

/// The database tables of an archive.
enum ArchiveSchema {
    /// The SQLite application id of an archive: the letters "Chuk".
    static let applicationID: Int64 = 0x4368_756B
    static let version: Int64 = 1

    // `line` describes a connection, as in a JSON Lines export; `last` is the number of its newest row. `start` is the
    // row that began the exchange of a packet. `bytes` is the last column, so that SQLite can read the other columns
    // without the pages of the bytes.
    private static let tables = """
        CREATE TABLE connection (key INTEGER PRIMARY KEY, line TEXT NOT NULL, last INTEGER NOT NULL);
        CREATE TABLE packet (
            number INTEGER PRIMARY KEY, connection INTEGER NOT NULL, time INTEGER NOT NULL,
            is_outgoing INTEGER NOT NULL, size INTEGER NOT NULL, alias INTEGER, topic TEXT, start INTEGER,
            elapsed INTEGER, is_last INTEGER, bytes BLOB NOT NULL);
        """

    /// The kind of a file, as found on opening.
    enum Finding {
        case empty
        case archive
        /// The file has this schema version, from a later version of this library.
        case newer(Int64)
    }

    /// Returns the kind of a file.
    ///
    /// - Throws: A failure if the file cannot be read. The failure counts as damage if the file is not a database, or
    ///   belongs to another application.
    static func look(at database: Database) throws(SQLiteFailure) -> Finding {
        let operation = "examining the file"
        let applicationID = try database.number("PRAGMA application_id", operation)
        let version = try database.number("PRAGMA user_version", operation)
        let isEmpty = try database.number("SELECT count(*) FROM sqlite_schema", operation) == 0
        if isEmpty, version == 0, applicationID == 0 { return .empty }
        guard applicationID == self.applicationID else { throw .foreign(applicationID: applicationID) }
        guard version <= self.version else { return .newer(version) }
        // Only tables are accepted, because views with these names could return rows without end.
        let tables = try database.number(
            "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name IN ('connection', 'packet')", operation)
        guard tables == 2 else { throw .foreign(applicationID: applicationID) }
        return .archive
    }

    /// Creates the tables in an empty file, in one transaction.
    static func make(in database: Database) throws(SQLiteFailure) {
        let operation = "creating the tables"
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
