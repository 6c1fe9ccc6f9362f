import CourierCore
import Foundation

/// The counts of each scope (client id and broker), such as its messages and bytes. The counts are kept in memory, and
/// are written to the file together with the rows. So no code needs to count rows.
///
/// Changes since the last ``mark()`` can be undone with ``rollBack(to:)``.
struct ScopeLedger {
    /// The counts of one scope.
    struct Entry {
        let key: Int64
        let name: StoreScope
        var lastMessageID: UInt64?
        /// The session to which the packet ids in the scope's rows belong; `nil` if it is unknown.
        var session: StoreScope?
        var outgoingCount = 0
        var incomingCount = 0
        var payloadBytes = 0
        /// The number of rows and bytes that count toward the limits.
        var size = StoreSize()
        /// An upper limit for the ids of the scope's messages in the tables; `nil` if the scope has stored no message.
        var lastInTables: UInt64?
        /// True if the file does not have the current counts yet.
        fileprivate var isDirty = false
        fileprivate var isInFile = false
        fileprivate var mark = 0

        var summary: StoreSummary {
            StoreSummary(
                outgoingCount: outgoingCount, incomingCount: incomingCount, payloadBytes: payloadBytes,
                lastMessageID: lastMessageID.map { StoredMessage.ID(rawValue: $0) }, session: session)
        }

        mutating func gaveOut(_ id: StoredMessage.ID) { lastMessageID = max(lastMessageID ?? 0, id.rawValue) }
    }

    /// The range of valid counts. A database file has less than 2^48 bytes, so real counts are below the upper end. The
    /// sum of the counts of all scopes (at most 2^15) does not overflow.
    private static let plausible: ClosedRange<Int64> = 0...1 << 47

    private var entries: [Entry] = []
    private var places: [StoreScope: Int] = [:]
    private var keys: Set<Int64> = []
    private var nextKey: Int64 = 0
    /// The scope that was looked up last, and the index of its entry. The value is kept because the next lookup is
    /// usually for the same scope.
    private var lastFound: (scope: StoreScope, place: Int)?
    private var before: [(place: Int, entry: Entry, total: StoreSize)] = []
    private var currentMark = 1
    private var dirty: [Int] = []
    /// The rows and bytes of all scopes together.
    private(set) var total = StoreSize()

    var all: [Entry] { entries }
    var hasUnwritten: Bool { !dirty.isEmpty }

    subscript(place: Int) -> Entry { entries[place] }

    /// Returns the index of a scope's entry; `nil` if there is no entry.
    func place(of scope: StoreScope) -> Int? { places[scope] }

    /// Returns the index of a scope's entry. If `creating` is true, a missing entry is created.
    ///
    /// - Returns: The index; `nil` if there is no entry. If `creating` is true, the result is `nil` only if the file
    ///   already has the maximum number of scopes.
    mutating func place(of scope: StoreScope, creating: Bool) -> Int? {
        if let lastFound, lastFound.scope.clientID.utf8.elementsEqual(scope.clientID.utf8),
            lastFound.scope.broker.utf8.elementsEqual(scope.broker.utf8)
        {
            return lastFound.place
        }
        guard let place = places[scope] ?? (creating ? create(scope) : nil) else { return nil }
        lastFound = (scope, place)
        return place
    }

    private mutating func create(_ scope: StoreScope) -> Int? {
        guard keys.count <= RowKey.highestScope else { return nil }
        while keys.contains(nextKey) { nextKey = (nextKey + 1) & RowKey.highestScope }
        let place = append(Entry(key: nextKey, name: scope))
        // Write the scope's own row with the next transaction, because rows of other tables refer to the scope by its
        // key.
        entries[place].isDirty = true
        dirty.append(place)
        return place
    }

    private mutating func append(_ entry: Entry) -> Int {
        entries.append(entry)
        keys.insert(entry.key)
        places[entry.name] = entries.count - 1
        total += entry.size
        return entries.count - 1
    }

    /// Changes the counts of a scope, and saves the previous counts for a rollback.
    mutating func change(_ place: Int, _ body: (inout Entry) -> Void) {
        if entries[place].mark != currentMark {
            before.append((place, entries[place], total))
            entries[place].mark = currentMark
        }
        if !entries[place].isDirty {
            entries[place].isDirty = true
            dirty.append(place)
        }
        total -= entries[place].size
        body(&entries[place])
        total += entries[place].size
    }

    /// Returns a mark to which later changes can be rolled back.
    mutating func mark() -> Int {
        currentMark += 1
        return before.count
    }

    /// Undoes all changes since the mark.
    mutating func rollBack(to mark: Int) {
        while before.count > mark, let (place, entry, total) = before.popLast() {
            entries[place] = entry
            self.total = total
        }
        currentMark += 1
        dirty = dirty.filter { entries[$0].isDirty }
    }

    // MARK: Reading and writing the file

    /// Removes scopes that were empty and unused for longer than `age`. Then reads all other scopes.
    static func load(from database: Database, forgetting age: Duration, now: Date) throws(SQLiteFailure) -> ScopeLedger
    {
        try forget(age, now: now, in: database)
        return try load(from: database)
    }

    private static func forget(_ age: Duration, now: Date, in database: Database) throws(SQLiteFailure) {
        let operation = "forgetting empty scopes"
        let old = now.timeIntervalSinceReferenceDate - Double(age.components.seconds)
        let forget = try database.prepare(
            """
            DELETE FROM scope WHERE rows = 0 AND used_at < ? AND NOT EXISTS
                (SELECT 1 FROM packet_id WHERE packet_id.key BETWEEN scope.key << 16 AND (scope.key << 16) + 65535)
                AND NOT EXISTS (SELECT 1 FROM rejected
                    WHERE rejected.key BETWEEN scope.key << 48 AND (scope.key << 48) + 281474976710655)
            """, operation)
        let hasOld = try database.number(
            "SELECT EXISTS (SELECT 1 FROM scope WHERE rows = 0 AND used_at < \(old))", operation)
        if hasOld != 0 { try forget.bind(1, real: old).run() }
    }

    /// Reads all scopes from the file.
    static func load(from database: Database) throws(SQLiteFailure) -> ScopeLedger {
        var ledger = ScopeLedger()
        let rows = try database.prepare(
            """
            SELECT key, client_id, broker, last_message_id, outgoing_count, incoming_count, payload_bytes, rows, bytes,
                (SELECT max(key) FROM outgoing WHERE key BETWEEN scope.key << 48 AND (scope.key << 48) + 281474976710655),
                (SELECT max(key) FROM incoming WHERE key BETWEEN scope.key << 48 AND (scope.key << 48) + 281474976710655),
                \(lastJobKey(in: database)), \(sessionColumns(in: database))
            FROM scope ORDER BY key
            """, "reading the scopes")
        while try rows.step() {
            guard let entry = Entry(reading: rows), ledger.places[entry.name] == nil else {
                throw SQLiteFailure.unreadableRow(in: "scope")
            }
            _ = ledger.append(entry)
        }
        return ledger
    }

    /// Returns the SQL expression for the highest key of a scope's jobs. In a file of an older version, which has no
    /// jobs, the expression is NULL.
    private static func lastJobKey(in database: Database) -> String {
        let hasJobs = (try? database.prepare("SELECT key FROM job LIMIT 0", "reading")) != nil
        let keys = "key BETWEEN scope.key << 48 AND (scope.key << 48) + 281474976710655"
        return hasJobs ? "(SELECT max(key) FROM job WHERE \(keys))" : "NULL"
    }

    /// Returns the session columns for a SELECT statement. If a file of an older version lacks these columns, the
    /// statement reads them as NULL.
    static func sessionColumns(in database: Database) -> String {
        let columns = "session_client_id, session_broker"
        let hasColumns = (try? database.prepare("SELECT \(columns) FROM scope LIMIT 0", "reading")) != nil
        return hasColumns ? columns : "NULL, NULL"
    }

    /// Writes the changed counts to the file. The counts stay marked as changed until ``commit()``.
    func write(to database: Database, by statements: ScopeStatements, now: Date) throws(SQLiteFailure) {
        for place in dirty {
            let entry = entries[place]
            let statement = entry.isInFile ? statements.update : statements.insert
            statement.bind(1, entry.key)
            if let last = entry.lastMessageID {
                statement.bind(2, Int64(last))
            } else {
                statement.bindNull(2)
            }
            statement.bind(3, Int64(entry.outgoingCount))
                .bind(4, Int64(entry.incomingCount))
                .bind(5, Int64(entry.payloadBytes))
                .bind(6, Int64(entry.size.rows))
                .bind(7, Int64(entry.size.bytes))
                .bind(8, real: now.timeIntervalSinceReferenceDate)
            if let session = entry.session {
                statement.bind(9, session.clientID).bind(10, session.broker)
            } else {
                statement.bindNull(9).bindNull(10)
            }
            if !entry.isInFile { statement.bind(11, entry.name.clientID).bind(12, entry.name.broker) }
            try statement.run()
        }
    }

    /// Marks all counts as written. Call this function after the transaction was committed.
    mutating func commit() {
        for place in dirty {
            entries[place].isDirty = false
            entries[place].isInFile = true
        }
        dirty.removeAll(keepingCapacity: true)
        accept()
    }

    /// Discards the data for rollbacks. The next transaction writes the counts that the file does not have yet.
    mutating func accept() {
        before.removeAll(keepingCapacity: true)
        currentMark += 1
    }
}

extension ScopeLedger.Entry {
    fileprivate init?(reading row: Statement) {
        let key = row.integer(0)
        let figures = (4...8).map { row.integer($0) }
        guard (0...RowKey.highestScope).contains(key), let clientID = row.text(1), let broker = row.text(2),
            figures.allSatisfy({ ScopeLedger.isPlausible($0) }),
            row.isNull(3) || (0...Int64(RowKey.highestMessageID)).contains(row.integer(3))
        else { return nil }
        self.init(key: key, name: StoreScope(clientID: clientID, broker: broker))
        if !row.isNull(3) { lastMessageID = UInt64(row.integer(3)) }
        for column in [9, 10, 11] as [Int32] where !row.isNull(column) {
            gaveOut(RowKey(rawValue: row.integer(column)).id)
        }
        (outgoingCount, incomingCount, payloadBytes) = (Int(figures[0]), Int(figures[1]), Int(figures[2]))
        session = StoreScope(session: row, 12)
        size = StoreSize(rows: Int(figures[3]), bytes: Int(figures[4]))
        lastInTables = lastMessageID
        isInFile = true
    }
}

extension StoreScope {
    /// Reads a session from two columns, in the order of ``ScopeLedger/sessionColumns(in:)``.
    init?(session row: Statement, _ column: Int32) {
        guard let clientID = row.text(column), let broker = row.text(column + 1) else { return nil }
        self.init(clientID: clientID, broker: broker)
    }
}

extension ScopeLedger {
    fileprivate static func isPlausible(_ figure: Int64) -> Bool { plausible.contains(figure) }
}

/// The statements that insert and update the row of a scope.
struct ScopeStatements {
    let insert: Statement
    let update: Statement

    init(_ database: Database) throws(SQLiteFailure) {
        let operation = "writing the counts of a scope"
        insert = try database.prepare(
            """
            INSERT INTO scope (key, last_message_id, outgoing_count, incoming_count, payload_bytes, rows, bytes,
                used_at, session_client_id, session_broker, client_id, broker)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """, operation)
        update = try database.prepare(
            """
            UPDATE scope SET last_message_id = ?2, outgoing_count = ?3, incoming_count = ?4, payload_bytes = ?5,
                rows = ?6, bytes = ?7, used_at = ?8, session_client_id = ?9, session_broker = ?10 WHERE key = ?1
            """, operation)
    }
}
