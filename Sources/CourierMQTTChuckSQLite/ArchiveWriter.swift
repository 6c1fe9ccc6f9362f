import CSQLite
import CourierCore
import CourierMQTTChuck
import CourierSQLite
import Foundation

/// The open file of an archive. Used by one thread at a time.
final class ArchiveWriter {
    /// Files of at most this many pages are looked through when they are opened. In larger ones damage is found when
    /// it is met.
    private static let pagesLookedThrough: Int64 = 1_024
    /// How many pages the log holds before they are moved into the database: 4 MiB.
    private static let logPages = 1_024

    /// A connection that has rows in the file.
    private struct Entry {
        let key: Int64
        let line: String
        var last: Int64
    }

    let files: ArchiveFiles
    private let retention: MQTTChuckArchive.Retention
    private let lock: StoreLock
    /// `nil` while a damaged file is replaced. All of it must be gone before the file is moved: SQLite would remove the
    /// log of the new file with the last statement of the old one.
    private var tables: Tables?
    /// The connections of this run by their ids in the logger.
    private var entries: [UInt64: Entry] = [:]

    private init(_ files: ArchiveFiles, _ retention: MQTTChuckArchive.Retention, _ lock: StoreLock, _ tables: Tables) {
        self.files = files
        self.retention = retention
        self.lock = lock
        self.tables = tables
    }

    // MARK: Opening

    /// Opens the file; one that is no archive or damaged is set aside for a new one.
    static func open(
        _ files: ArchiveFiles, _ retention: MQTTChuckArchive.Retention
    ) throws(CourierError) -> sending (writer: ArchiveWriter, setAside: MQTTChuckArchive.Status.SetAside?) {
        try files.protect()
        let lock: StoreLock
        do throws(SQLiteFailure) { lock = try StoreLock(files.lock, system: nil) } catch {
            throw error.archiveError(files.path)
        }
        var setAside: MQTTChuckArchive.Status.SetAside?
        let tables: Tables
        do throws(SQLiteFailure) {
            tables = try Tables(files)
        } catch {
            guard error.isDamage else { throw error.archiveError(files.path) }
            (tables, setAside) = try replace(files, damagedBy: error)
        }
        return (ArchiveWriter(files, retention, lock, tables), setAside)
    }

    /// Sets the file aside, and opens a new one.
    private static func replace(
        _ files: ArchiveFiles, damagedBy failure: SQLiteFailure
    ) throws(CourierError) -> (Tables, MQTTChuckArchive.Status.SetAside) {
        let error = failure.archiveError(files.path)
        let aside = try files.setAside()
        let setAside = MQTTChuckArchive.Status.SetAside(
            url: URL(fileURLWithPath: aside),
            error: CourierError(
                .storeDamaged, "\(error.message) It was set aside as \(aside), and a new one begun.", cause: failure))
        do throws(SQLiteFailure) { return (try Tables(files), setAside) } catch {
            throw error.archiveError(files.path)
        }
    }

    /// Goes on in a new file because this one turned out to be damaged.
    func replace(damagedBy failure: SQLiteFailure) throws(CourierError) -> MQTTChuckArchive.Status.SetAside {
        close(tables: &tables)
        entries = [:]
        let (replaced, setAside) = try Self.replace(files, damagedBy: failure)
        tables = replaced
        return setAside
    }

    func close() {
        close(tables: &tables)
        lock.release()
    }

    private func close(tables: inout Tables?) {
        let database = tables?.database
        tables = nil
        database?.close()
    }

    // MARK: Writing

    /// Writes rows, and removes the oldest that are too many then, all or nothing.
    func write(_ records: [PacketRecord], now: Date) throws(SQLiteFailure) {
        let tables = try openTables()
        let (entries, rows, bytes) = (entries, tables.rows, tables.bytes)
        do throws(SQLiteFailure) {
            try tables.database.execute("BEGIN IMMEDIATE", "beginning to write")
            var touched: Set<UInt64> = []
            for record in records {
                let number = tables.base + Int64(clamping: record.number)
                let key = try key(record.connection, row: number, tables)
                touched.insert(record.connection.id)
                try tables.add(record, number: number, connection: key)
            }
            for id in touched {
                if let entry = self.entries[id] { try tables.put(entry.key, entry.line, last: entry.last) }
            }
            if let oldest = try tables.trim(retention, now: now) {
                self.entries = self.entries.filter { $0.value.last >= oldest }
            }
            try tables.database.execute("COMMIT", "committing")
        } catch {
            if tables.database.isInTransaction { try? tables.database.execute("ROLLBACK", "undoing") }
            self.entries = entries
            (tables.rows, tables.bytes) = (rows, bytes)
            throw error
        }
        // Rows are safe in the log as well, so that a failure waits for the next time.
        if tables.database.pagesInLog > Self.logPages { try? tables.database.checkpoint() }
    }

    private func openTables() throws(SQLiteFailure) -> Tables {
        if let tables { return tables }
        let opened = try Tables(files)
        tables = opened
        return opened
    }

    private func key(
        _ connection: MQTTChuckConnection, row: Int64, _ tables: Tables
    ) throws(SQLiteFailure) -> Int64 {
        if let key = entries[connection.id]?.key {
            entries[connection.id]?.last = row
            return key
        }
        let entry = Entry(key: try tables.newKey(), line: connection.line, last: row)
        try tables.put(entry.key, entry.line, last: row)
        entries[connection.id] = entry
        return entry.key
    }
}

// MARK: - Tables

extension ArchiveWriter {
    /// The database with its statements, and how much is in it.
    private final class Tables {
        let database: Database
        private let addPacket: Statement
        private let putConnection: Statement
        private let oldest: Statement
        private let removePackets: Statement
        private let removeConnections: Statement
        private let largestKey: Statement
        /// What is added to the numbers of this run: the newest number of the runs before.
        let base: Int64
        var rows: Int
        var bytes: Int

        convenience init(_ files: ArchiveFiles) throws(SQLiteFailure) {
            let database = try Database(path: files.path, .owner, system: nil)
            let finding = try ArchiveSchema.look(at: database)
            if case .newer(let version) = finding {
                throw SQLiteFailure(
                    extendedCode: SQLITE_MISMATCH, message: "it has version \(version), made by a newer library",
                    operation: "opening the file")
            }
            let operation = "setting up the file"
            try database.execute("PRAGMA auto_vacuum = INCREMENTAL", operation)
            guard try database.text("PRAGMA journal_mode = WAL", operation) == "wal" else {
                throw SQLiteFailure(
                    extendedCode: SQLITE_CANTOPEN, message: "the file system offers no write-ahead log",
                    operation: operation)
            }
            try database.execute(
                "PRAGMA synchronous = NORMAL; PRAGMA journal_size_limit = \(8 << 20); PRAGMA temp_store = MEMORY",
                operation)
            if case .empty = finding { try ArchiveSchema.make(in: database) }
            if try database.number("PRAGMA page_count", operation) <= ArchiveWriter.pagesLookedThrough {
                let found = try database.text("PRAGMA integrity_check(1)", "looking through the file")
                guard found == "ok" else {
                    throw SQLiteFailure(extendedCode: SQLITE_CORRUPT, message: found, operation: operation)
                }
            }
            do throws(SQLiteFailure) {
                try self.init(database)
            } catch {
                guard error.code == SQLITE_ERROR else { throw error }
                // The tables are not those of this version.
                throw SQLiteFailure(extendedCode: SQLITE_CORRUPT, message: error.message, operation: operation)
            }
        }

        private init(_ database: Database) throws(SQLiteFailure) {
            self.database = database
            let counting = "counting rows"
            base = try database.number("SELECT max(number) FROM packet", counting)
            guard (0...Int64.max / 2).contains(base) else { throw SQLiteFailure.unreadableRow(in: "packet") }
            rows = Int(clamping: try database.number("SELECT count(*) FROM packet", counting))
            bytes = Int(clamping: try database.number("SELECT sum(length(bytes)) FROM packet", counting))
            addPacket = try database.prepare(
                "INSERT INTO packet VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", "adding a packet")
            putConnection = try database.prepare(
                "INSERT OR REPLACE INTO connection VALUES (?, ?, ?)", "adding a connection")
            oldest = try database.prepare(
                "SELECT number, time, length(bytes) FROM packet ORDER BY number", "looking for old rows")
            removePackets = try database.prepare("DELETE FROM packet WHERE number < ?", "removing old rows")
            removeConnections = try database.prepare(
                "DELETE FROM connection WHERE last < ?", "removing old connections")
            largestKey = try database.prepare("SELECT max(key) FROM connection", "numbering a connection")
            // What earlier runs have removed goes back to the disk.
            try database.execute("PRAGMA incremental_vacuum(1000)", "giving space back")
        }

        func newKey() throws(SQLiteFailure) -> Int64 {
            defer { largestKey.reset() }
            return try largestKey.step() ? largestKey.integer(0) &+ 1 : 1
        }

        func put(_ key: Int64, _ line: String, last: Int64) throws(SQLiteFailure) {
            try putConnection.bind(1, key).bind(2, line).bind(3, last).run()
        }

        func add(_ record: PacketRecord, number: Int64, connection: Int64) throws(SQLiteFailure) {
            addPacket.bind(1, number).bind(2, connection).bind(3, record.time)
                .bind(4, record.direction == .outgoing ? 1 : 0).bind(5, Int64(record.wholeSize))
            if let alias = record.alias {
                addPacket.bind(6, Int64(alias.number)).bind(7, alias.topic)
            } else {
                addPacket.bindNull(6).bindNull(7)
            }
            if let link = record.link {
                addPacket.bind(8, base + Int64(clamping: link.start)).bind(9, link.elapsed)
                    .bind(10, link.isLast ? 1 : 0)
            } else {
                addPacket.bindNull(8).bindNull(9).bindNull(10)
            }
            try addPacket.lending(11, blob: record.bytes) { () throws(SQLiteFailure) in try addPacket.run() }
            rows += 1
            bytes += record.bytes.count
        }

        /// Removes the oldest rows until the limits hold; returns the oldest that stays if any went.
        func trim(
            _ retention: MQTTChuckArchive.Retention, now: Date
        ) throws(SQLiteFailure) -> Int64? {
            let limit = retention.age.map { Self.nanoseconds(now) - Self.nanoseconds($0) } ?? .min
            defer { oldest.reset() }
            var first: Int64?
            var last: Int64 = 0
            while try oldest.step() {
                let (number, time, size) = (oldest.integer(0), oldest.integer(1), Int(clamping: oldest.integer(2)))
                if rows <= retention.rows, bytes <= retention.bytes, time >= limit {
                    first = number
                    break
                }
                last = number
                rows -= 1
                bytes -= size
            }
            oldest.reset()
            if last == 0 { return nil }
            let stays = first ?? last + 1
            try removePackets.bind(1, stays).run()
            try removeConnections.bind(1, stays).run()
            return stays
        }

        private static func nanoseconds(_ date: Date) -> Int64 {
            Int64(exactly: (date.timeIntervalSince1970 * 1e9).rounded()) ?? .max
        }

        private static func nanoseconds(_ duration: Duration) -> Int64 {
            let (seconds, attoseconds) = duration.components
            let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
            return overflow ? .max : whole &+ attoseconds / 1_000_000_000
        }
    }
}
