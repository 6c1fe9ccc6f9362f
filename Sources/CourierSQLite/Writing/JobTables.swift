import CourierCore
import Foundation

/// The tables of jobs, of their states, and of the keys of handled messages.
struct JobTables {
    let messages: MessageTable
    private let writing: Statement
    private let removal: Statement
    private let emptying: Statement
    private let pages: JobPages
    private let keyCheck: Statement
    private let keyWriting: Statement
    private let keyRemoval: Statement
    private let keyEmptying: Statement
    private let keyReading: Statement

    init(_ database: Database) throws(SQLiteFailure) {
        messages = try MessageTable("job", database)
        let state = "storing the state of a job"
        writing = try database.prepare(
            "INSERT OR REPLACE INTO job_state (\(JobPages.stateColumns)) SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9 "
                + "WHERE EXISTS (SELECT 1 FROM job WHERE key = ?1)", state)
        removal = try database.prepare("DELETE FROM job_state WHERE key = ?", state)
        emptying = try database.prepare("DELETE FROM job_state WHERE key BETWEEN ? AND ?", state)
        pages = try JobPages(database)
        let key = "storing the keys of handled messages"
        let row = "scope = ? AND processor = ? AND processed = ?"
        keyCheck = try database.prepare("SELECT 1 FROM processed_key WHERE \(row)", key)
        keyWriting = try database.prepare("INSERT OR REPLACE INTO processed_key VALUES (?, ?, ?, ?, ?, ?)", key)
        keyRemoval = try database.prepare("DELETE FROM processed_key WHERE \(row)", key)
        keyEmptying = try database.prepare("DELETE FROM processed_key WHERE scope = ?", key)
        keyReading = try database.prepare(
            "SELECT processed, handled_at, boot_id, since_boot FROM processed_key WHERE scope = ? AND processor = ?",
            "reading the keys of handled messages")
    }

    // MARK: States

    /// Stores the state of a job, in place of its earlier state. Does nothing if there is no such job.
    func write(_ state: StoredJob.State, _ key: RowKey) throws(SQLiteFailure) {
        writing.bind(1, key.rawValue).bind(2, state.processor).bind(4, Int64(clamping: state.attempts))
        if let text = state.deduplicationKey { writing.bind(3, text) } else { writing.bindNull(3) }
        if let text = state.lastError { writing.bind(5, text) } else { writing.bindNull(5) }
        let time: StoreTime
        switch state.stage {
        case .waiting(let pause, let since):
            writing.bind(6, pause.wholeNanoseconds)
            time = since
        case .parked(let date):
            writing.bindNull(6)
            time = StoreTime(date: date)
        }
        time.bind(to: writing, 7)
        try writing.run()
    }

    func removeState(_ key: RowKey) throws(SQLiteFailure) { try removal.bind(1, key.rawValue).run() }

    /// Removes the jobs and keys of a scope.
    func removeAll(of scope: Int64) throws(SQLiteFailure) {
        try messages.removeAll(of: scope)
        try emptying.bind(1, RowKey.first(of: scope).rawValue).bind(2, RowKey.last(of: scope).rawValue).run()
        try keyEmptying.bind(1, scope).run()
    }

    /// Reads at most `limit` jobs, in the order of their keys, starting with `first`.
    func read(from first: RowKey, through last: RowKey, limit: Int) throws(SQLiteFailure) -> [StoredJob] {
        try pages.read(from: first, through: last, limit: limit)
    }

    // MARK: Keys of handled messages

    func hasKey(_ key: String, of processor: String, _ scope: Int64) throws(SQLiteFailure) -> Bool {
        defer { keyCheck.reset() }
        return try keyCheck.bind(1, scope).bind(2, processor).bind(3, key).step()
    }

    func write(_ key: ProcessedKey, of scope: Int64) throws(SQLiteFailure) {
        keyWriting.bind(1, scope).bind(2, key.processor).bind(3, key.key)
        key.handledAt.bind(to: keyWriting, 4)
        try keyWriting.run()
    }

    func removeKey(_ key: String, of processor: String, _ scope: Int64) throws(SQLiteFailure) {
        try keyRemoval.bind(1, scope).bind(2, processor).bind(3, key).run()
    }

    func keys(of processor: String, _ scope: Int64) throws(SQLiteFailure) -> [ProcessedKey] {
        keyReading.bind(1, scope).bind(2, processor)
        defer { keyReading.reset() }
        var found: [ProcessedKey] = []
        while try keyReading.step() {
            guard let key = keyReading.text(0) else { throw SQLiteFailure.unreadableRow(in: "processed_key") }
            found.append(
                ProcessedKey(processor: processor, key: key, handledAt: StoreTime(reading: keyReading, 1)))
        }
        return found
    }
}

/// Reads jobs with their states.
struct JobPages {
    static let stateColumns =
        "key, processor, deduplication_key, attempts, last_error, pause, changed_at, boot_id, since_boot"

    /// The columns of a job and its state in the order in which ``job(_:)`` reads them.
    static let columns: String = {
        let message = MessageRow.columns.split(separator: ", ").map { $0 == "key" ? "key" : "job.\($0)" }
        let state = stateColumns.split(separator: ", ").dropFirst().map { "job_state.\($0)" }
        return (message + state).joined(separator: ", ")
    }()

    /// The jobs with their states, as a table for a SELECT statement.
    static let source = "job JOIN job_state USING (key)"

    private let page: Statement

    init(_ database: Database) throws(SQLiteFailure) {
        page = try database.prepare(
            "SELECT \(Self.columns) FROM \(Self.source) WHERE key BETWEEN ? AND ? ORDER BY key LIMIT ?",
            "reading jobs")
    }

    /// Returns the key and the job of the current row; `nil` if the row is invalid.
    static func job(_ row: Statement) -> (key: RowKey, job: StoredJob)? {
        guard let message = MessageRow(reading: row), let processor = row.text(14) else { return nil }
        let time = StoreTime(reading: row, 19)
        let stage: StoredJob.Stage =
            row.isNull(18) ? .parked(at: time.date) : .waiting(.nanoseconds(max(row.integer(18), 0)), since: time)
        let state = StoredJob.State(
            processor: processor, deduplicationKey: row.text(15), attempts: Int(clamping: max(row.integer(16), 0)),
            lastError: row.text(17), stage: stage)
        return (message.key, StoredJob(message.message, state))
    }

    func read(from first: RowKey, through last: RowKey, limit: Int) throws(SQLiteFailure) -> [StoredJob] {
        page.bind(1, first.rawValue).bind(2, last.rawValue).bind(3, Int64(limit))
        defer { page.reset() }
        var found: [StoredJob] = []
        while try page.step() {
            guard let (_, job) = Self.job(page) else { throw SQLiteFailure.unreadableRow(in: "job") }
            found.append(job)
        }
        return found
    }
}

extension StoreTime {
    /// Binds the date, the boot id and the time since the boot to three parameters.
    fileprivate func bind(to statement: Statement, _ index: Int32) {
        statement.bind(index, real: date.timeIntervalSinceReferenceDate)
        if let bootTime {
            statement.bind(index + 1, blob: bootTime.bootID.bytes).bind(index + 2, bootTime.nanoseconds)
        } else {
            statement.bindNull(index + 1).bindNull(index + 2)
        }
    }

    /// Reads the date, the boot id and the time since the boot from three columns.
    init(reading row: Statement, _ column: Int32) {
        self.init(
            date: Date(timeIntervalSinceReferenceDate: row.real(column)),
            bootTime: MessageRow.bootTime(row, column + 1)?.value)
    }
}
