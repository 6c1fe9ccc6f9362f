import CSQLite
import CourierCore
import Foundation

/// Copies all readable rows of a damaged file into a new file. The damaged file stays unchanged.
struct Salvage {
    /// The number of rows that are written in one transaction.
    private static let rowsAtATime = 4_096
    private static let pageSize = 4_096
    /// The number of bytes of a file that are copied at a time.
    private static let bytesAtATime = 1 << 20

    let opening: StoreOpening

    private var files: DatabaseFiles { opening.files }

    /// Copies rows into the file `recovering`. The file is complete and closed when this function returns.
    ///
    /// - Returns: The number of copied rows.
    func run() throws(SQLiteFailure) -> Int {
        let target = try makeTarget(files.recovering)
        var writer = ChangeWriter(
            target, try StoreTables(target),
            try ScopeLedger.load(from: target, forgetting: opening.limits.emptyScopeAge, now: .distantPast), .full)
        var saved = try save(files.path, &writer)
        if saved == 0, let copy = graft() { saved = try save(copy, &writer) }
        try target.checkpoint(emptying: true)
        return saved
    }

    /// Creates the file `recovering` without rows.
    func makeEmpty() throws(SQLiteFailure) { try makeTarget(files.recovering).checkpoint(emptying: true) }

    private func makeTarget(_ path: String) throws(SQLiteFailure) -> Database {
        do throws(CourierError) { try PrivateFile.prepare(path) } catch { throw SQLiteFailure(creating: error) }
        let target = try Database(path: path, .owner, system: opening.system)
        try target.setUp(.full, logBytes: opening.limits.logBytes)
        try opening.schema.migrate(target, from: 0)
        return target
    }

    /// Copies the damaged file, and replaces the first page of the copy with the first page of a new file.
    ///
    /// The first page contains the positions of the tables, so no row can be found without it. The tables are at the
    /// same positions in every store file, so the first page of a new file can replace a damaged first page.
    private func graft() -> String? {
        let (template, copy) = (files.recovering + ".template", files.recovering + ".copy")
        guard let database = try? makeTarget(template), (try? database.checkpoint(emptying: true)) != nil else {
            return nil
        }
        database.close()
        do {
            let source = try FileHandle(forReadingFrom: URL(fileURLWithPath: template))
            defer { try? source.close() }
            guard var page = try source.read(upToCount: Self.pageSize), page.count == Self.pageSize else { return nil }
            try Self.copy(files.path, to: copy)
            if FileManager.default.fileExists(atPath: files.log) { try Self.copy(files.log, to: copy + "-wal") }
            let handle = try FileHandle(forUpdating: URL(fileURLWithPath: copy))
            defer { try? handle.close() }
            let pages = UInt32(clamping: try handle.seekToEnd() / UInt64(Self.pageSize))
            // Bytes 28 to 31 contain the number of pages. Bytes 32 to 39 refer to the list of free pages. Make this
            // list empty.
            for index in 0..<4 { page[28 + index] = UInt8(truncatingIfNeeded: pages >> (24 - 8 * UInt32(index))) }
            page.replaceSubrange(32..<40, with: Data(count: 8))
            try handle.seek(toOffset: 0)
            try handle.write(contentsOf: page)
            return copy
        } catch {
            return nil
        }
    }

    /// Copies a file into a private file.
    ///
    /// FileManager is not used, because it would create the copy with the permissions of the umask, and would restrict
    /// the copy later.
    private static func copy(_ file: String, to copy: String) throws {
        let source = try FileHandle(forReadingFrom: URL(fileURLWithPath: file))
        defer { try? source.close() }
        let target = try PrivateFile.open(copy)
        while let part = try source.read(upToCount: bytesAtATime), !part.isEmpty { try target.write(contentsOf: part) }
        try target.close()
    }

    // MARK: Rows

    /// Copies all readable rows of each table. Read failures in the damaged file do not stop the copy.
    private func save(_ path: String, _ writer: inout ChangeWriter) throws(SQLiteFailure) -> Int {
        guard let source = try? Database(path: path, .salvager, system: opening.system) else { return 0 }
        // With these settings, SQLite can open a file that is shorter than its first page says.
        try? source.execute("PRAGMA writable_schema = ON; PRAGMA query_only = ON", "reading")
        let places = saveScopes(source, &writer)
        var saved = 0
        for table in ["outgoing", "incoming"] {
            let columns = MessageRow.columns(of: table, in: source)
            let reader = RowScan(table: table, columns: columns, database: source)
            try reader.visit { row throws(SQLiteFailure) in
                guard let row = MessageRow(reading: row), let place = places[row.key.scope] else { return }
                try writer.add(table == "outgoing" ? .enqueue(row.message) : .keep(row.message), to: place)
                if table == "outgoing" { try writer.add(.progress(row.key.id, row.outgoing.progress), to: place) }
                let strikes = row.outgoing.strikes
                if table == "outgoing", strikes > 0 { try writer.add(.strike(row.key.id, count: strikes), to: place) }
                saved += 1
                if saved.isMultiple(of: Self.rowsAtATime) { try writer.commit(now: Date()) }
            }
        }
        let rejected = RowScan(table: "rejected", columns: RejectedPages.columns, database: source)
        try rejected.visit { row throws(SQLiteFailure) in
            guard let (key, message) = RejectedPages.message(row), let place = places[key.scope] else { return }
            try writer.addRejected(message, to: place)
            saved += 1
        }
        saved += try saveJobs(source, places, &writer)
        let packetIDs = RowScan(table: "packet_id", columns: "key", database: source)
        try packetIDs.visit { row throws(SQLiteFailure) in
            guard let place = places[row.integer(0) >> 16] else { return }
            try writer.add(.rememberPacketID(UInt16(truncatingIfNeeded: row.integer(0))), to: place)
            saved += 1
        }
        saved += try saveSubscriptions(source, places, &writer)
        try writer.begin()
        try writer.commit(now: Date())
        return saved
    }

    /// Copies the jobs whose message and state can both be read, and the keys of handled messages.
    private func saveJobs(
        _ source: Database, _ places: [Int64: Int], _ writer: inout ChangeWriter
    ) throws(SQLiteFailure) -> Int {
        var saved = 0
        let jobs = RowScan(table: JobPages.source, columns: JobPages.columns, database: source)
        try jobs.visit { row throws(SQLiteFailure) in
            guard let (key, job) = JobPages.job(row), let place = places[key.scope] else { return }
            try writer.add(.addJob(job), to: place)
            saved += 1
            if saved.isMultiple(of: Self.rowsAtATime) { try writer.commit(now: Date()) }
        }
        let sql = "SELECT scope, processor, processed, handled_at, boot_id, since_boot FROM processed_key"
        guard let rows = try? source.prepare(sql, "reading") else { return saved }
        while (try? rows.step()) == true {
            guard let place = places[rows.integer(0)], let processor = rows.text(1), let key = rows.text(2) else {
                continue
            }
            let handledAt = StoreTime(reading: rows, 3)
            try writer.add(.rememberKey(ProcessedKey(processor: processor, key: key, handledAt: handledAt)), to: place)
            saved += 1
        }
        return saved
    }

    /// Copies the scopes.
    ///
    /// - Returns: The index of each scope in the new file's ledger, by the key of the scope in the damaged file.
    private func saveScopes(_ source: Database, _ writer: inout ChangeWriter) -> [Int64: Int] {
        var places: [Int64: Int] = [:]
        let columns = "key, client_id, broker, last_message_id, \(ScopeLedger.sessionColumns(in: source))"
        let scopes = RowScan(table: "scope", columns: columns, database: source)
        try? scopes.visit { row throws(SQLiteFailure) in
            guard let clientID = row.text(1), let broker = row.text(2) else { return }
            let scope = StoreScope(clientID: clientID, broker: broker)
            guard let place = writer.ledger.place(of: scope, creating: true) else { return }
            places[row.integer(0)] = place
            writer.ledger.change(place) { $0.session = StoreScope(session: row, 4) }
            let last = row.integer(3)
            if !row.isNull(3), last >= 0, last <= Int64(RowKey.highestMessageID) {
                writer.ledger.change(place) { $0.gaveOut(StoredMessage.ID(rawValue: UInt64(last))) }
            }
        }
        return places
    }

    /// Copies the subscriptions. Reads the table from its start up to the first damaged place, and then from its end
    /// back to the first damaged place.
    private func saveSubscriptions(
        _ source: Database, _ places: [Int64: Int], _ writer: inout ChangeWriter
    ) throws(SQLiteFailure) -> Int {
        var found: Set<StoredSubscription> = []
        var saved = 0
        for order in ["ASC", "DESC"] {
            let sql = "SELECT scope, filter, intent FROM subscription ORDER BY scope \(order), filter \(order)"
            guard let rows = try? source.prepare(sql, "reading") else { continue }
            found = []
            while (try? rows.step()) == true {
                guard let place = places[rows.integer(0)], let text = rows.text(1), let filter = try? TopicFilter(text),
                    let intent = StoredSubscription.Intent(stored: rows.integer(2)),
                    found.insert(StoredSubscription(filter, intent)).inserted || order == "ASC"
                else { continue }
                let before = writer.ledger[place].size
                try writer.add(.want(StoredSubscription(filter, intent)), to: place)
                if writer.ledger[place].size != before { saved += 1 }
            }
        }
        return saved
    }
}
