import CourierCore

/// The tables of a store's file, and how a file of an older version becomes one of this version.
struct Schema: Sendable {
    /// "Cour": the file's mark by which it is known as one of ours.
    static let applicationID: Int64 = 0x436F_7572

    /// One step of a migration; the first step makes a file out of nothing.
    struct Step: Sendable {
        /// What is done, as SQL.
        let sql: String
    }

    /// Steps from each version to the next; version 0 is an empty file. A released step is never changed.
    let steps: [Step]

    /// The version of this library's files.
    var version: Int64 { Int64(steps.count) }

    static let current = Schema(steps: [Step(sql: versionOne), Step(sql: versionTwo), Step(sql: versionThree)])

    /// The tables that files of every version have.
    static let tables = ["scope", "outgoing", "incoming", "packet_id", "subscription"]

    // Payloads stand last, so that nothing else is read across their pages. The size of a row is its bytes of
    // payload, topic and properties, as the limits count them. `progress` is a kind times 65,536 plus a packet id:
    // a number of always three bytes, so that progress is written in place.
    private static let versionOne = """
        CREATE TABLE scope (
            key INTEGER PRIMARY KEY, client_id TEXT NOT NULL, broker TEXT NOT NULL, last_message_id INTEGER,
            outgoing_count INTEGER NOT NULL, incoming_count INTEGER NOT NULL, payload_bytes INTEGER NOT NULL,
            rows INTEGER NOT NULL, bytes INTEGER NOT NULL, used_at REAL NOT NULL, UNIQUE (client_id, broker));
        CREATE TABLE outgoing (
            key INTEGER PRIMARY KEY, progress INTEGER NOT NULL, qos INTEGER NOT NULL, is_retained INTEGER NOT NULL,
            stored_at REAL NOT NULL, expires_at REAL, size INTEGER NOT NULL, topic TEXT NOT NULL, properties BLOB,
            payload BLOB NOT NULL);
        CREATE TABLE incoming (
            key INTEGER PRIMARY KEY, progress INTEGER NOT NULL, qos INTEGER NOT NULL, is_retained INTEGER NOT NULL,
            stored_at REAL NOT NULL, expires_at REAL, size INTEGER NOT NULL, topic TEXT NOT NULL, properties BLOB,
            payload BLOB NOT NULL);
        CREATE INDEX incoming_expires_at ON incoming (expires_at) WHERE expires_at IS NOT NULL;
        CREATE TABLE packet_id (key INTEGER PRIMARY KEY);
        CREATE TABLE subscription (
            scope INTEGER NOT NULL, filter TEXT NOT NULL, intent INTEGER NOT NULL, PRIMARY KEY (scope, filter))
            WITHOUT ROWID;
        """

    // The boot and the nanoseconds since the boot at which a row was stored; both are null if they are not known. Rejected
    // messages are in the order in which they were rejected, and their columns begin as those of the other messages do.
    private static let versionTwo = """
        ALTER TABLE outgoing ADD COLUMN boot_id BLOB;
        ALTER TABLE outgoing ADD COLUMN since_boot INTEGER;
        ALTER TABLE outgoing ADD COLUMN is_latest_only INTEGER;
        ALTER TABLE outgoing ADD COLUMN strikes INTEGER;
        ALTER TABLE incoming ADD COLUMN boot_id BLOB;
        ALTER TABLE incoming ADD COLUMN since_boot INTEGER;
        ALTER TABLE incoming ADD COLUMN is_latest_only INTEGER;
        ALTER TABLE incoming ADD COLUMN strikes INTEGER;
        CREATE INDEX incoming_boot_end ON incoming (boot_id, \(MessageRow.bootEnd)) WHERE expires_at IS NOT NULL;
        CREATE TABLE rejected (
            key INTEGER PRIMARY KEY, progress INTEGER NOT NULL, qos INTEGER NOT NULL, is_retained INTEGER NOT NULL,
            stored_at REAL NOT NULL, expires_at REAL, size INTEGER NOT NULL, topic TEXT NOT NULL, properties BLOB,
            payload BLOB NOT NULL, boot_id BLOB, since_boot INTEGER, is_latest_only INTEGER, strikes INTEGER,
            place INTEGER NOT NULL, rejected_at REAL NOT NULL, reason TEXT NOT NULL);
        """

    // The session whose packet ids the rows have; both are null if it is not known.
    private static let versionThree = """
        ALTER TABLE scope ADD COLUMN session_client_id TEXT;
        ALTER TABLE scope ADD COLUMN session_broker TEXT;
        """

    /// Brings a file up to this version, in one transaction.
    ///
    /// - Returns: The version that the file had.
    @discardableResult
    func migrate(_ database: Database, from version: Int64) throws(SQLiteFailure) -> Int64 {
        guard version < self.version else { return version }
        let operation = "making the tables of version \(self.version)"
        try database.execute("BEGIN IMMEDIATE", operation)
        do throws(SQLiteFailure) {
            for step in steps.dropFirst(Int(version)) { try database.execute(step.sql, operation) }
            try database.execute("PRAGMA application_id = \(Self.applicationID)", operation)
            try database.execute("PRAGMA user_version = \(self.version)", operation)
            try database.execute("COMMIT", operation)
        } catch {
            if database.isInTransaction { try? database.execute("ROLLBACK", operation) }
            throw error
        }
        return version
    }
}
