import CSQLite
import CourierCore
import CourierMQTTChuck
import CourierSQLite
import Foundation

/// The open file of an archive. Only one thread may use it at a time.
final class ArchiveWriter {
    /// If the write-ahead log has more pages than this, the pages are copied into the database. 1,024 pages are 4 MiB.
    private static let logPages = 1_024
    /// The maximum size in bytes of the write-ahead log file after its pages were copied.
    private static let logBytes = 8 << 20

    /// A connection that has rows in the file.
    private struct Entry {
        let key: Int64
        let line: String
        var last: Int64
    }

    let files: DatabaseFiles
    private let retention: MQTTChuckArchive.Retention
    /// The name of the VFS, the file layer of SQLite; `nil` for the default VFS. Tests use their own VFS.
    private let system: String?
    private let lock: StoreLock
    /// The open database; `nil` while a damaged file is replaced. The database must be closed completely before the
    /// file is renamed, because SQLite would otherwise remove the log of the new file when it closes the last statement
    /// of the old file.
    private var tables: Tables?
    /// The connections with rows that this archive has written since it was opened, by their id in the logger.
    private var entries: [UInt64: Entry] = [:]

    private init(
        _ files: DatabaseFiles, _ retention: MQTTChuckArchive.Retention, _ system: String?, _ lock: StoreLock,
        _ tables: Tables
    ) {
        self.files = files
        self.retention = retention
        self.system = system
        self.lock = lock
        self.tables = tables
    }

    // MARK: Opening

    /// Opens the file. A file that is damaged or not an archive is renamed, and a new file is created.
    static func open(
        _ files: DatabaseFiles, _ retention: MQTTChuckArchive.Retention, system: String?
    ) throws(CourierError) -> sending (writer: ArchiveWriter, quarantinedFile: MQTTChuckArchive.Status.QuarantinedFile?)
    {
        try files.prepare()
        let lock: StoreLock
        do throws(SQLiteFailure) { lock = try StoreLock(files.lock, system: system) } catch {
            throw error.archiveError(files.path)
        }
        var quarantinedFile: MQTTChuckArchive.Status.QuarantinedFile?
        let tables: Tables
        do throws(SQLiteFailure) {
            tables = try Tables(files, system)
        } catch {
            guard error.isDamageOfOpenedFile else { throw error.archiveError(files.path) }
            quarantinedFile = try self.quarantine(files, damagedBy: error)
            do throws(SQLiteFailure) { tables = try Tables(files, system) } catch {
                throw error.archiveError(files.path)
            }
        }
        return (ArchiveWriter(files, retention, system, lock, tables), quarantinedFile)
    }

    /// Renames the file, so that a new file can be created in its place.
    private static func quarantine(
        _ files: DatabaseFiles, damagedBy failure: SQLiteFailure
    ) throws(CourierError) -> MQTTChuckArchive.Status.QuarantinedFile {
        let aside = try files.quarantine()
        return MQTTChuckArchive.Status.QuarantinedFile(
            url: URL(fileURLWithPath: aside),
            error: CourierError(
                .storeDamaged,
                "\(failure.archiveError(files.path).message) The file was renamed to \(aside); a new archive was created.",
                cause: failure))
    }

    /// Renames the file because it was found damaged. The next rows are written to a new file.
    func quarantine(damagedBy failure: SQLiteFailure) throws(CourierError) -> MQTTChuckArchive.Status.QuarantinedFile {
        close(tables: &tables)
        entries = [:]
        return try Self.quarantine(files, damagedBy: failure)
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

    /// Writes rows, and removes the oldest rows if the limits are exceeded, in one transaction.
    func write(_ records: [PacketRecord], now: Date) throws(SQLiteFailure) {
        let tables = try openTables()
        let (entries, rows, bytes) = (entries, tables.rows, tables.bytes)
        do throws(SQLiteFailure) {
            try tables.database.execute("BEGIN IMMEDIATE", "beginning to write")
            var touched: Set<UInt64> = []
            for record in records {
                guard let number = tables.number(ofRow: record.number) else { throw SQLiteFailure.noNumbersLeft }
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
        // Committed rows are also safe while they are only in the log. If this checkpoint fails, it is tried again
        // after the next write.
        if tables.database.pagesInLog > Self.logPages { try? tables.database.checkpoint() }
    }

    private func openTables() throws(SQLiteFailure) -> Tables {
        if let tables { return tables }
        let opened = try Tables(files, system)
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
    /// The open database with its prepared statements, its number of rows and its bytes of packets.
    private final class Tables {
        let database: Database
        private let addPacket: Statement
        private let putConnection: Statement
        private let oldest: Statement
        private let removePackets: Statement
        private let removeConnections: Statement
        private let largestKey: Statement
        /// The highest row number in the file when it was opened. It is added to the row numbers of the logger.
        private let base: Int64
        var rows: Int
        var bytes: Int

        convenience init(_ files: DatabaseFiles, _ system: String?) throws(SQLiteFailure) {
            do throws(CourierError) { try files.prepare() } catch { throw SQLiteFailure(creating: error) }
            let database = try Database(path: files.path, .owner, system: system)
            let finding = try ArchiveSchema.look(at: database)
            if case .newer(let version) = finding {
                throw SQLiteFailure(
                    extendedCode: SQLITE_MISMATCH, message: "a newer library wrote the file (version \(version))",
                    operation: "opening the file")
            }
            try database.setUp(.normal, logBytes: ArchiveWriter.logBytes)
            // At this point, the log file exists and is still empty. So its permissions are restricted before it
            // contains data.
            do throws(CourierError) { try files.restrict() } catch { throw SQLiteFailure(creating: error) }
            if case .empty = finding { try ArchiveSchema.make(in: database) }
            try database.lookThrough()
            do throws(SQLiteFailure) {
                try self.init(database)
            } catch {
                guard error.code == SQLITE_ERROR else { throw error }
                // The tables do not have the columns that this version of the library needs, so the file counts as
                // damaged.
                throw SQLiteFailure(
                    extendedCode: SQLITE_CORRUPT, message: error.message, operation: error.operation)
            }
        }

        private init(_ database: Database) throws(SQLiteFailure) {
            self.database = database
            let counting = "counting rows"
            base = try database.number("SELECT max(number) FROM packet", counting)
            guard base >= 0 else { throw SQLiteFailure.unreadableRow(in: "packet") }
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
            // Returns free pages to the file system. These pages belonged to rows that were removed before the file was
            // opened.
            try database.execute("PRAGMA incremental_vacuum(1000)", "giving space back")
        }

        /// Returns the number in the file for a row of the logger. Returns `nil` if that number would exceed the
        /// largest number that can be read from a file.
        func number(ofRow row: UInt64) -> Int64? {
            let largest = Int64(PacketRestoring.largestNumber)
            guard base <= largest, row <= UInt64(largest - base) else { return nil }
            return base + Int64(row)
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
            if let link = record.link, let start = self.number(ofRow: link.start) {
                addPacket.bind(8, start).bind(9, link.elapsed).bind(10, link.isLast ? 1 : 0)
            } else {
                addPacket.bindNull(8).bindNull(9).bindNull(10)
            }
            try addPacket.lending(11, blob: record.bytes) { () throws(SQLiteFailure) in try addPacket.run() }
            rows += 1
            bytes += record.bytes.count
        }

        /// Removes the oldest rows until no limit is exceeded. Returns the number of the oldest remaining row, or `nil`
        /// if no row was removed.
        func trim(
            _ retention: MQTTChuckArchive.Retention, now: Date
        ) throws(SQLiteFailure) -> Int64? {
            let limit =
                retention.age.map { Nanoseconds.difference(Nanoseconds.since1970(now), Nanoseconds.of(max($0, .zero))) }
                ?? .min
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
    }
}
