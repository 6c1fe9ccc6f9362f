import CSQLite
import CourierCore
import Foundation

/// The open file and all that is done with it, on one thread.
///
/// A failure takes back what it belongs to and nothing else; the next call tries anew, with a new connection or a
/// recovered file where that is needed.
final class StoreCore {
    typealias Outcome = Result<Void, CourierError>

    /// After this many groups in a row that the disk has failed, the file is opened anew.
    private static let failuresBeforeReopening = 3
    /// How many pages are given back to the file system at a time.
    private static let pagesGivenBack = 64
    /// Fewer free pages than this are kept for later.
    private static let freePagesKept: Int64 = 1_024

    private let opening: StoreOpening
    private let lock: StoreLock
    private let date: @Sendable () -> Date
    private let noteRecovery: @Sendable (StoreRecovery) -> Void
    /// `nil` while the file could not be opened again.
    private var writer: ChangeWriter?
    /// The damage that was met, until the file is replaced.
    private var damage: SQLiteFailure?
    private var failuresInARow = 0
    private var mayHaveFreePages = true
    private var pastTransactions = 0

    private var limits: SQLiteMessageStore.Limits { opening.limits }
    private var path: String { opening.files.path }

    /// How many transactions were committed.
    var transactionCount: Int { pastTransactions + (writer?.transactionCount ?? 0) }

    /// Takes the lock and opens the file.
    ///
    /// - Parameters:
    ///   - opening: How.
    ///   - date: Says what time it is.
    ///   - noteRecovery: Learns of each damage that was dealt with, at once.
    /// - Throws: `storeInUse` when somebody else has the lock, or why the file cannot be opened.
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

    /// Writes a group of batches, in one transaction where that is possible.
    ///
    /// - Returns: What became of each.
    func write(_ batches: [StoreBatch]) -> [Outcome] {
        do throws(CourierError) { try ensureOpen() } catch { return batches.map { .failure($0.refusal ?? error) } }
        if let outcomes = try? attempt(batches) {
            failuresInARow = 0
            return outcomes
        }
        // Some of it cannot be written. Each for itself, so that the others are.
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

    /// Whether no batch can exceed the limits.
    private func fits(_ batches: [StoreBatch]) -> Bool {
        var size = writer?.ledger.total ?? StoreSize()
        for batch in batches { size += batch.growth }
        return size.rows <= limits.rows && size.bytes <= limits.bytes
    }

    /// All batches as one list of changes.
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

    /// One batch after the other in one transaction, each measured against the limits.
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
            "The message store \(path) is full: it holds \(size.rows) rows and \(size.bytes) bytes of at most "
                + "\(limits.rows) and \(limits.bytes), and \(batch.changes.count) changes do not fit. Wait until "
                + "messages are acknowledged and read, or raise its limits.")
    }

    private var tooManyScopes: CourierError {
        CourierError(
            .storeFull,
            "The message store \(path) holds \(RowKey.highestScope + 1) scopes and takes no further client id or broker. "
                + "Use a client id that stays the same, or another file.")
    }

    // MARK: Reading

    /// Reads. Damage that is met is dealt with, and the reading is repeated.
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
        // On a full disk the log begins anew in the room that it has, so that at least removals can be written.
        if failure.code == SQLITE_FULL { try? writer?.database.checkpoint() }
    }

    /// Opens the file again when it has to be.
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

    /// Opens the file a second time, and only then closes it the first time: SQLite then continues with what it knows
    /// of the log, instead of reading a transaction from it that failed in its very last step.
    ///
    /// - Returns: Whether the store can continue with this file.
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
        writer = nil  // The statements first.
        database?.close()
    }

    // MARK: Cleaning up

    /// Moves the log into the file when it has grown; called between groups.
    func moveLog() {
        guard let database = writer?.database, database.pagesInLog * 4_096 >= limits.logBytes else { return }
        // When it fails, the log continues growing and the next group tries again; nothing depends on it.
        try? database.checkpoint()
        mayHaveFreePages = true
    }

    /// Gives pages back that nothing needs; called while there is nothing else to do.
    ///
    /// - Returns: Whether there is more to do.
    func giveBackPages() -> Bool {
        guard mayHaveFreePages, let database = writer?.database else { return false }
        let operation = "giving back free pages"
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

    /// Writes what is left, and gives the file and the lock back.
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
