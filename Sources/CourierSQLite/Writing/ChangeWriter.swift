import CourierCore
import Foundation

/// Combines changes, so that few writes are needed. A row that is added and removed before it was written is never
/// written. If the progress of a message changes several times, only the last progress is written.
///
/// ``add(_:to:)`` collects changes, and ``flush()`` writes them. ``hasBegun`` is true while a transaction is open.
struct ChangeWriter {
    /// The table of a message: outgoing or incoming.
    private enum Direction: Hashable {
        case outgoing
        case incoming
        case job
    }

    /// Identifies one row of a message table.
    private struct Place: Hashable {
        let direction: Direction
        let key: RowKey
    }

    /// The pending write for one row.
    private enum Work {
        /// Insert the row into the table. If `replacing` is true, the table may already have a row with this key.
        case insert(StoredMessage, StoredOutgoing.Progress, replacing: Bool)
        case progress(StoredOutgoing.Progress)
        case remove
        /// Write nothing, because the row was added and then removed.
        case nothing
    }

    let database: Database
    let tables: StoreTables
    /// The counts of all scopes.
    var ledger: ScopeLedger
    /// True if the next transaction must be on the disk before its commit returns. Used only with the durability
    /// `full`.
    var awaitsDisk = true
    /// True while a transaction is open.
    private(set) var hasBegun = false
    /// The number of committed transactions.
    private(set) var transactionCount = 0

    private let durability: SQLiteMessageStore.Durability
    /// The value of `awaitsDisk` that was last set on the connection.
    private var isAwaitingDisk = true
    private var works: [(place: Place, scope: Int, work: Work)] = []
    private var indices: [Place: Int] = [:]
    private var packetIDs: [Int64: Bool] = [:]
    /// The pending states of jobs; `nil` for a state to remove.
    private var jobStates: [RowKey: StoredJob.State?] = [:]

    init(
        _ database: Database, _ tables: StoreTables, _ ledger: ScopeLedger,
        _ durability: SQLiteMessageStore.Durability
    ) {
        self.durability = durability
        self.database = database
        self.tables = tables
        self.ledger = ledger
    }

    // MARK: Transactions

    mutating func begin() throws(SQLiteFailure) {
        guard !hasBegun else { return }
        if durability == .full, awaitsDisk != isAwaitingDisk {
            // All transactions share one log. So a later transaction that waits for the disk also writes the earlier
            // transactions to the disk.
            try database.execute("PRAGMA synchronous = \(awaitsDisk ? "FULL" : "NORMAL")", "choosing the durability")
            isAwaitingDisk = awaitsDisk
        }
        try database.execute("BEGIN IMMEDIATE", "beginning a transaction")
        hasBegun = true
    }

    /// Writes the added changes, and commits the transaction if there is one.
    mutating func commit(now: Date) throws(SQLiteFailure) {
        try flush()
        guard hasBegun else { return ledger.accept() }
        try ledger.write(to: database, by: tables.scopes, now: now)
        try database.execute("COMMIT", "committing")
        hasBegun = false
        transactionCount += 1
        ledger.commit()
    }

    /// Rolls back all changes since the last commit.
    mutating func rollBack() {
        forgetWork()
        if database.isInTransaction { try? database.execute("ROLLBACK", "rolling back") }
        hasBegun = false
        tables.forgetRecentRows()
        ledger.rollBack(to: 0)
    }

    mutating func setSavepoint() throws(SQLiteFailure) -> Int {
        try begin()
        try database.execute("SAVEPOINT batch", "beginning a batch")
        return ledger.mark()
    }

    mutating func releaseSavepoint() throws(SQLiteFailure) { try database.execute("RELEASE batch", "ending a batch") }

    mutating func rollBack(toSavepoint mark: Int) throws(SQLiteFailure) {
        forgetWork()
        try database.execute("ROLLBACK TO batch; RELEASE batch", "undoing a batch")
        tables.forgetRecentRows()
        ledger.rollBack(to: mark)
    }

    private mutating func forgetWork() {
        works.removeAll(keepingCapacity: true)
        indices.removeAll(keepingCapacity: true)
        packetIDs.removeAll(keepingCapacity: true)
        jobStates.removeAll(keepingCapacity: true)
    }

    // MARK: Changes

    /// Adds one change of a scope. Most changes are written later, by `flush()`.
    mutating func add(_ change: StoreChange, to scope: Int) throws(SQLiteFailure) {
        switch change {
        case .enqueue(let message): insert(message, .outgoing, scope)
        case .progress(let id, let progress): setProgress(progress, id, scope)
        case .removeOutgoing(let id): remove(id, .outgoing, scope)
        case .strike(let id, let count): try setStrikes(count, id, scope)
        case .reject(let id, let reason, let date): try reject(id, reason, at: date, scope)
        case .removeRejected(let id): try removeRejected(id, scope)
        case .keep(let message): insert(message, .incoming, scope)
        case .removeIncoming(let id): remove(id, .incoming, scope)
        case .removeExpired(let time): try removeExpired(at: time, scope)
        case .addJob(let job):
            insert(job.message, .job, scope)
            setState(job.state, job.message.id, scope)
        case .updateJob(let id, let state): setState(state, id, scope)
        case .removeJob(let id):
            remove(id, .job, scope)
            setState(nil, id, scope)
        case .rememberKey(let key): try remember(key, scope)
        case .forgetKeys(let processor, let keys): try forget(keys, of: processor, scope)
        case .rememberPacketID(let id): packetIDs[StoreTables.packetIDKey(ledger[scope].key, id)] = true
        case .forgetPacketID(let id): packetIDs[StoreTables.packetIDKey(ledger[scope].key, id)] = false
        case .forgetAllPacketIDs:
            try flush()
            try begin()
            try tables.removePacketIDs(of: ledger[scope].key)
        case .rememberSession(let session):
            try begin()
            ledger.change(scope) { $0.session = session }
        case .want(let subscription): try want(subscription, scope)
        case .forgetSubscription(let filter): try forget(filter, scope)
        case .removeAll: try removeAll(scope)
        }
    }

    private mutating func insert(_ message: StoredMessage, _ direction: Direction, _ scope: Int) {
        // The id always fits into a key, because batches with a higher id were refused earlier.
        guard let key = RowKey(scope: ledger[scope].key, id: message.id) else { return }
        let place = Place(direction: direction, key: key)
        if let index = indices[place] {
            let mayBeThere =
                switch works[index].work {
                case .insert(_, _, let replacing): replacing
                case .progress, .remove: true
                case .nothing: false
                }
            works[index].work = .insert(message, .queued, replacing: mayBeThere)
        } else {
            append(.insert(message, .queued, replacing: mayBeThere(message.id, scope)), place, scope)
        }
        ledger.change(scope) { $0.gaveOut(message.id) }
    }

    private mutating func setProgress(_ progress: StoredOutgoing.Progress, _ id: StoredMessage.ID, _ scope: Int) {
        guard mayBeThere(id, scope) || !indices.isEmpty, let key = RowKey(scope: ledger[scope].key, id: id) else {
            return
        }
        let place = Place(direction: .outgoing, key: key)
        if let index = indices[place] {
            switch works[index].work {
            case .insert(let message, _, let replacing):
                works[index].work = .insert(message, progress, replacing: replacing)
            case .progress: works[index].work = .progress(progress)
            case .remove, .nothing: break
            }
        } else if mayBeThere(id, scope) {
            append(.progress(progress), place, scope)
        }
    }

    private mutating func remove(_ id: StoredMessage.ID, _ direction: Direction, _ scope: Int) {
        guard mayBeThere(id, scope) || !indices.isEmpty, let key = RowKey(scope: ledger[scope].key, id: id) else {
            return
        }
        let place = Place(direction: direction, key: key)
        if let index = indices[place] {
            if case .insert(_, _, replacing: false) = works[index].work {
                works[index].work = .nothing
            } else if case .nothing = works[index].work {
                return
            } else {
                works[index].work = .remove
            }
        } else if mayBeThere(id, scope) {
            append(.remove, place, scope)
        }
    }

    private mutating func append(_ work: Work, _ place: Place, _ scope: Int) {
        indices[place] = works.count
        works.append((place, scope, work))
    }

    /// True if the tables may contain a message with this id. False if the id is higher than all stored ids.
    private func mayBeThere(_ id: StoredMessage.ID, _ scope: Int) -> Bool {
        ledger[scope].lastInTables.map { id.rawValue <= $0 } ?? false
    }

    // MARK: Writing

    /// Writes all changes that were added so far.
    mutating func flush() throws(SQLiteFailure) {
        for index in works.indices {
            let (place, scope, work) = works[index]
            switch work {
            case .insert(let message, let progress, let replacing):
                try begin()
                if replacing { try removeRow(place, scope) }
                let figures = try table(place.direction).insert(message, progress, place.key)
                count(figures, 1, place.direction, scope)
                ledger.change(scope) { $0.lastInTables = max($0.lastInTables ?? 0, message.id.rawValue) }
            case .progress(let progress):
                try begin()
                try tables.outgoing.setProgress(progress, place.key)
            case .remove:
                try begin()
                try removeRow(place, scope)
            case .nothing: break
            }
        }
        for (key, state) in jobStates {
            try begin()
            if let state { try tables.jobs.write(state, key) } else { try tables.jobs.removeState(key) }
        }
        for (key, isThere) in packetIDs {
            try begin()
            try tables.setPacketID(key, isThere: isThere)
        }
        forgetWork()
    }

    private mutating func removeRow(_ place: Place, _ scope: Int) throws(SQLiteFailure) {
        guard let figures = try table(place.direction).remove(place.key) else { return }
        count(figures, -1, place.direction, scope)
    }

    private func table(_ direction: Direction) -> MessageTable {
        switch direction {
        case .outgoing: tables.outgoing
        case .incoming: tables.incoming
        case .job: tables.jobs.messages
        }
    }

    private mutating func count(_ figures: MessageTable.Figures, _ sign: Int, _ direction: Direction, _ scope: Int) {
        ledger.change(scope) { entry in
            switch direction {
            case .outgoing: entry.outgoingCount += sign * figures.size.rows
            case .incoming: entry.incomingCount += sign * figures.size.rows
            case .job: break
            }
            if direction != .job { entry.payloadBytes += sign * figures.payloadBytes }
            entry.size.rows += sign * figures.size.rows
            entry.size.bytes += sign * figures.size.bytes
        }
    }

    private mutating func removeExpired(at time: StoreTime, _ scope: Int) throws(SQLiteFailure) {
        try flush()
        guard ledger[scope].incomingCount > 0 else { return }
        try begin()
        count(try tables.removeExpired(at: time, of: ledger[scope].key), -1, .incoming, scope)
    }

    private mutating func setStrikes(_ count: Int, _ id: StoredMessage.ID, _ scope: Int) throws(SQLiteFailure) {
        guard let key = RowKey(scope: ledger[scope].key, id: id) else { return }
        try flush()
        try begin()
        try tables.outgoing.setStrikes(count, key)
    }

    private mutating func reject(
        _ id: StoredMessage.ID, _ reason: String, at date: Date, _ scope: Int
    ) throws(SQLiteFailure) {
        guard let key = RowKey(scope: ledger[scope].key, id: id) else { return }
        try flush()
        try begin()
        try tables.rejected.keep(key, reason: reason, at: date)
        try removeRow(Place(direction: .outgoing, key: key), scope)
    }

    private mutating func removeRejected(_ id: StoredMessage.ID, _ scope: Int) throws(SQLiteFailure) {
        guard let key = RowKey(scope: ledger[scope].key, id: id) else { return }
        try begin()
        try tables.rejected.remove(key)
    }

    /// Stores a rejected message that was recovered from a damaged file.
    mutating func addRejected(_ message: RejectedMessage, to scope: Int) throws(SQLiteFailure) {
        guard let key = RowKey(scope: ledger[scope].key, id: message.message.id) else { return }
        try begin()
        try tables.rejected.insert(message, key)
    }

    private mutating func setState(_ state: StoredJob.State?, _ id: StoredMessage.ID, _ scope: Int) {
        if let key = RowKey(scope: ledger[scope].key, id: id) { jobStates[key] = .some(state) }
    }

    private mutating func remember(_ key: ProcessedKey, _ scope: Int) throws(SQLiteFailure) {
        try begin()
        let isThere = try tables.jobs.hasKey(key.key, of: key.processor, ledger[scope].key)
        try tables.jobs.write(key, of: ledger[scope].key)
        ledger.change(scope) { if !isThere { $0.size += StoreSize(of: key) } }
    }

    private mutating func forget(
        _ keys: [String], of processor: String, _ scope: Int
    ) throws(SQLiteFailure) {
        for key in keys where try tables.jobs.hasKey(key, of: processor, ledger[scope].key) {
            try begin()
            try tables.jobs.removeKey(key, of: processor, ledger[scope].key)
            let size = StoreSize(of: ProcessedKey(processor: processor, key: key, handledAt: .now))
            ledger.change(scope) { $0.size -= size }
        }
    }

    private mutating func want(_ subscription: StoredSubscription, _ scope: Int) throws(SQLiteFailure) {
        try begin()
        let isThere = try tables.hasSubscription(subscription.filter.string, of: ledger[scope].key)
        try tables.write(subscription, of: ledger[scope].key)
        ledger.change(scope) { if !isThere { $0.size += StoreSize(of: subscription.filter) } }
    }

    private mutating func forget(_ filter: TopicFilter, _ scope: Int) throws(SQLiteFailure) {
        guard try tables.hasSubscription(filter.string, of: ledger[scope].key) else { return }
        try begin()
        try tables.removeSubscription(filter.string, of: ledger[scope].key)
        ledger.change(scope) { $0.size -= StoreSize(of: filter) }
    }

    private mutating func removeAll(_ scope: Int) throws(SQLiteFailure) {
        try flush()
        try begin()
        let key = ledger[scope].key
        try tables.outgoing.removeAll(of: key)
        try tables.incoming.removeAll(of: key)
        try tables.rejected.removeAll(of: key)
        try tables.jobs.removeAll(of: key)
        try tables.removePacketIDs(of: key)
        try tables.removeSubscriptions(of: key)
        ledger.change(scope) { entry in
            (entry.outgoingCount, entry.incomingCount, entry.payloadBytes) = (0, 0, 0)
            entry.size = StoreSize()
            entry.session = nil
        }
    }
}
