import CourierCore

/// The tables of a store's file, and the migration of files of older versions.
struct Schema: Sendable {
    /// The SQLite application id that identifies a file as a message store: "Cour" in ASCII.
    static let applicationID: Int64 = 0x436F_7572

    /// One step of a migration. The first step creates the tables of an empty file.
    struct Step: Sendable {
        /// The SQL statements of the step.
        let sql: String
    }

    /// The steps of the migration. Each step leads from one version to the next, and version 0 is an empty file. A step
    /// that was part of a published version must never change.
    let steps: [Step]

    /// The file version that this library writes.
    var version: Int64 { Int64(steps.count) }

    static let current = Schema(steps: [
        Step(sql: versionOne), Step(sql: versionTwo), Step(sql: versionThree), Step(sql: versionFour),
    ])

    /// The tables that files of every version have.
    static let tables = ["scope", "outgoing", "incoming", "packet_id", "subscription"]

    // The payload is the last column, so that a query for other columns does not read the pages of the payload. `size`
    // is the number of bytes of payload, topic and properties, as counted for the limits. `progress` is one number: the
    // number of a kind times 65,536, plus a packet id. This number always has three bytes, so that SQLite can update it
    // in place.
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

    // `boot_id` and `since_boot` are the time when a row was stored: the boot of the machine, and the nanoseconds since
    // that boot. Both are NULL if the time is unknown. `place` is the order in which messages were rejected. The first
    // columns of `rejected` equal the columns of the other message tables.
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

    // These two columns contain the session to which the packet ids of a scope belong. Both are NULL if the session is
    // unknown.
    private static let versionThree = """
        ALTER TABLE scope ADD COLUMN session_client_id TEXT;
        ALTER TABLE scope ADD COLUMN session_broker TEXT;
        """

    // The messages of jobs, and their states. An attempt changes the state only, so that SQLite does not write the
    // payload again. `pause` is in nanoseconds; it is NULL for a parked job. `changed_at`, `boot_id` and `since_boot`
    // say when the pause began, or when the job was parked.
    private static let versionFour = """
        CREATE TABLE job (
            key INTEGER PRIMARY KEY, progress INTEGER NOT NULL, qos INTEGER NOT NULL, is_retained INTEGER NOT NULL,
            stored_at REAL NOT NULL, expires_at REAL, size INTEGER NOT NULL, topic TEXT NOT NULL, properties BLOB,
            payload BLOB NOT NULL, boot_id BLOB, since_boot INTEGER, is_latest_only INTEGER, strikes INTEGER);
        CREATE TABLE job_state (
            key INTEGER PRIMARY KEY, processor TEXT NOT NULL, deduplication_key TEXT, attempts INTEGER NOT NULL,
            last_error TEXT, pause INTEGER, changed_at REAL NOT NULL, boot_id BLOB, since_boot INTEGER);
        CREATE TABLE processed_key (
            scope INTEGER NOT NULL, processor TEXT NOT NULL, processed TEXT NOT NULL, handled_at REAL NOT NULL,
            boot_id BLOB, since_boot INTEGER, PRIMARY KEY (scope, processor, processed)) WITHOUT ROWID;
        """

    /// Migrates a file to this version, in one transaction.
    ///
    /// - Returns: The version of the file before the migration.
    @discardableResult
    func migrate(_ database: Database, from version: Int64) throws(SQLiteFailure) -> Int64 {
        guard version < self.version else { return version }
        let operation = "creating the tables of version \(self.version)"
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
