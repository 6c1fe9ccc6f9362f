import CSQLite
import CourierCore
import Foundation

/// The open store file, and all operations on the file. Used by one thread only.
///
/// A failure rolls back only the changes that failed, and the next call tries again. If necessary, the next call first
/// opens a new connection or recovers the file.
final class StoreCore {
    typealias Outcome = Result<Void, CourierError>

    /// The number of consecutive failed writes after which the file is opened again. Only failures of the disk count.
    private static let failuresBeforeReopening = 3
    /// The number of pages that are returned to the file system at a time.
    private static let pagesGivenBack = 64
    /// The number of free pages that the file keeps for later writes.
    private static let freePagesKept: Int64 = 1_024

    private let opening: StoreOpening
    private let lock: StoreLock
    private let date: @Sendable () -> Date
    private let noteRecovery: @Sendable (StoreRecovery) -> Void
    /// The writer of the open file; `nil` if the file could not be opened again.
    private var writer: ChangeWriter?
    /// The damage that was found in the file; `nil` after the file was replaced.
    private var damage: SQLiteFailure?
    private var failuresInARow = 0
    private var mayHaveFreePages = true
    private var pastTransactions = 0

    private var limits: SQLiteMessageStore.Limits { opening.limits }
    private var path: String { opening.files.path }

    /// The number of committed transactions.
    var transactionCount: Int { pastTransactions + (writer?.transactionCount ?? 0) }

    /// Takes the lock and opens the file.
    ///
    /// - Parameters:
    ///   - opening: Opens the file.
    ///   - date: Returns the current time.
    ///   - noteRecovery: Called immediately after a damaged file was replaced.
    /// - Throws: `storeInUse` if another store object or process has the lock; another error if the file cannot be
    ///   opened.
    init(
        _ opening: StoreOpening, date: @escaping @Sendable () -> Date,
        noteRecovery: @escaping @Sendable (StoreRecovery) -> Void
    ) throws(CourierError) {
        self.opening = opening
        self.date = date
        self.noteRecovery = noteRecovery
        try opening.files.prepareLock()
        do throws(SQLiteFailure) {
            lock = try StoreLock(opening.files.lock, system: opening.system)
        } catch {
            throw error.courierError(path: opening.files.path)
        }
        let opened = try opening.open(now: date())
        writer = opened.writer
        if let recovery = opened.recovery { noteRecovery(recovery) }
    }

    // MARK: Writing

    /// Writes a group of batches, in one transaction if possible.
    ///
    /// - Returns: The result of each batch, in the order of the batches.
    func write(_ batches: [StoreBatch]) -> [Outcome] {
        do throws(CourierError) { try ensureOpen() } catch { return batches.map { .failure($0.refusal ?? error) } }
        if let outcomes = try? attempt(batches) {
            failuresInARow = 0
            return outcomes
        }
        // At least one batch cannot be written. Write each batch in its own transaction, so that the other batches
        // succeed.
        var outcomes: [Outcome] = []
        var (isAnyWritten, isDiskBroken) = (false, false)
        for batch in batches {
            do throws(CourierError) {
                try ensureOpen()
                do throws(SQLiteFailure) {
                    outcomes += try attempt([batch])
                    isAnyWritten = true
                } catch {
                    outcomes.append(.failure(error.courierError(path: path)))
                    if error.code != SQLITE_FULL { isDiskBroken = true }
                }
            } catch {
                outcomes.append(.failure(error))
            }
        }
        failuresInARow = isAnyWritten || !isDiskBroken ? 0 : failuresInARow + 1
        return outcomes
    }

    private func attempt(_ batches: [StoreBatch]) throws(SQLiteFailure) -> [Outcome] {
        guard writer != nil else { return [] }
        writer?.awaitsDisk = !batches.allSatisfy(\.isRepeatable)
        do throws(SQLiteFailure) {
            return fits(batches) ? try writeTogether(batches) : try writeEach(batches)
        } catch {
            takeBack(error)
            throw error
        }
    }

    /// True if all batches together cannot exceed the limits.
    private func fits(_ batches: [StoreBatch]) -> Bool {
        var size = writer?.ledger.total ?? StoreSize()
        for batch in batches { size += batch.growth }
        return size.rows <= limits.rows && size.bytes <= limits.bytes
    }

    /// Writes all batches as one list of changes, without checking the limits.
    private func writeTogether(_ batches: [StoreBatch]) throws(SQLiteFailure) -> [Outcome] {
        var outcomes: [Outcome] = []
        outcomes.reserveCapacity(batches.count)
        for batch in batches {
            if let refusal = batch.refusal {
                outcomes.append(.failure(refusal))
            } else if let scope = writer?.ledger.place(of: batch.scope, creating: batch.needsScope) {
                for change in batch.changes { try writer?.add(change, to: scope) }
                outcomes.append(.success(()))
            } else {
                outcomes.append(batch.needsScope ? .failure(tooManyScopes) : .success(()))
            }
        }
        try writer?.commit(now: date())
        return outcomes
    }

    /// Writes the batches one by one in one transaction, and checks the limits for each batch.
    private func writeEach(_ batches: [StoreBatch]) throws(SQLiteFailure) -> [Outcome] {
        var outcomes: [Outcome] = []
        for batch in batches { outcomes.append(try writeMeasured(batch)) }
        try writer?.commit(now: date())
        return outcomes
    }

    private func writeMeasured(_ batch: StoreBatch) throws(SQLiteFailure) -> Outcome {
        if let refusal = batch.refusal { return .failure(refusal) }
        guard let scope = writer?.ledger.place(of: batch.scope, creating: batch.needsScope) else {
            return batch.needsScope ? .failure(tooManyScopes) : .success(())
        }
        guard let before = writer?.ledger.total, let mark = try writer?.setSavepoint() else { return .success(()) }
        for change in batch.changes { try writer?.add(change, to: scope) }
        try writer?.flush()
        let after = writer?.ledger.total ?? before
        guard after.rows <= max(limits.rows, before.rows), after.bytes <= max(limits.bytes, before.bytes) else {
            try writer?.rollBack(toSavepoint: mark)
            return .failure(full(before, batch))
        }
        try writer?.releaseSavepoint()
        return .success(())
    }

    private func full(_ size: StoreSize, _ batch: StoreBatch) -> CourierError {
        CourierError(
            .storeFull,
            "The message store \(path) is full. It holds \(size.rows) of at most \(limits.rows) rows, "
                + "and \(size.bytes) of at most \(limits.bytes) bytes, so \(batch.changes.count) changes do not fit. "
                + "Wait until messages are acknowledged and read, or raise the limits of the store.")
    }

    private var tooManyScopes: CourierError {
        CourierError(
            .storeFull,
            "The message store \(path) holds \(RowKey.highestScope + 1) scopes, the maximum. "
                + "Use a client id that stays the same, or another file.")
    }

    // MARK: Reading

    /// Runs a read. If the read finds damage, recovers the file and runs the read again.
    func read<Value>(
        _ body: (StoreTables, ScopeLedger) throws(SQLiteFailure) -> Value
    ) throws(CourierError) -> Value {
        try ensureOpen()
        do throws(SQLiteFailure) {
            return try readOnce(body)
        } catch {
            guard error.isDamage else { throw error.courierError(path: path) }
            takeBack(error)
        }
        try ensureOpen()
        do throws(SQLiteFailure) {
            return try readOnce(body)
        } catch {
            throw error.courierError(path: path)
        }
    }

    private func readOnce<Value>(
        _ body: (StoreTables, ScopeLedger) throws(SQLiteFailure) -> Value
    ) throws(SQLiteFailure) -> Value {
        guard let writer else {
            throw SQLiteFailure(extendedCode: SQLITE_MISUSE, message: "the file is not open", operation: "reading")
        }
        return try body(writer.tables, writer.ledger)
    }

    // MARK: Failures

    private func takeBack(_ failure: SQLiteFailure) {
        writer?.rollBack()
        if failure.isDamage { damage = failure }
        // If the disk is full, a checkpoint lets SQLite use the space of the log again. Then at least removals can be
        // written.
        if failure.code == SQLITE_FULL { try? writer?.database.checkpoint() }
    }

    /// Opens the file again if it is closed or damaged, if a rollback failed, or if the disk failed several times.
    private func ensureOpen() throws(CourierError) {
        if damage == nil, let writer {
            guard writer.database.isInTransaction || failuresInARow >= Self.failuresBeforeReopening else { return }
            if try renewConnection(isUsable: !writer.database.isInTransaction) { return }
        }
        closeFile()
        let opened = try opening.open(damagedBy: damage, now: date())
        (writer, damage, failuresInARow) = (opened.writer, nil, 0)
        if let recovery = opened.recovery { noteRecovery(recovery) }
    }

    /// Opens a second connection to the file before it closes the first connection.
    ///
    /// In this order, SQLite keeps its state of the log. If the only connection were closed first, SQLite would read
    /// the log again, and could accept a transaction that failed in its last step.
    ///
    /// - Returns: True if the store can continue with this file.
    private func renewConnection(isUsable: Bool) throws(CourierError) -> Bool {
        do throws(CourierError) {
            let renewed = try opening.openAgain(now: date())
            closeFile()
            (writer, failuresInARow) = (renewed, 0)
            return true
        } catch {
            failuresInARow = 0
            if error.code == .storeDamaged { damage = error.cause as? SQLiteFailure }
            if error.code == .storeDamaged || isUsable { return error.code != .storeDamaged }
            closeFile()
            throw error
        }
    }

    private func closeFile() {
        pastTransactions = transactionCount
        let database = writer?.database
        writer = nil  // Free the statements before the database is closed.
        database?.close()
    }

    // MARK: Cleaning up

    /// Moves the log into the database if the log has reached its size limit. Called after each group of batches.
    func moveLog() {
        guard let database = writer?.database, database.pagesInLog * 4_096 >= limits.logBytes else { return }
        // If the checkpoint fails, the log continues to grow, and the store tries again after the next group of
        // batches. Nothing else depends on the checkpoint.
        try? database.checkpoint()
        mayHaveFreePages = true
    }

    /// Returns unused pages to the file system. Called while there is no other work.
    ///
    /// - Returns: True if there may be more unused pages.
    func giveBackPages() -> Bool {
        guard mayHaveFreePages, let database = writer?.database else { return false }
        let operation = "returning free pages"
        guard let free = try? database.number("PRAGMA freelist_count", operation),
            let all = try? database.number("PRAGMA page_count", operation), free > Self.freePagesKept, free > all / 2,
            (try? database.execute("PRAGMA incremental_vacuum(\(Self.pagesGivenBack))", operation)) != nil
        else {
            mayHaveFreePages = false
            return false
        }
        moveLog()
        return true
    }

    /// Writes the remaining changes, closes the file, and releases the lock.
    func close() {
        if writer?.ledger.hasUnwritten == true {
            do throws(SQLiteFailure) {
                writer?.awaitsDisk = true
                try writer?.begin()
                try writer?.commit(now: date())
            } catch {
                takeBack(error)
            }
        }
        closeFile()
        lock.release()
    }
}
