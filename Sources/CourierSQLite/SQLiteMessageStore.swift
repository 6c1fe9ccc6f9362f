public import CourierCore
public import Foundation
import Synchronization

/// A message store on disk. Its messages survive the end of the process. With ``Durability-swift.enum/full``, they also
/// survive a power cut.
///
/// ```swift
/// let store = try SQLiteMessageStore(at: folder.appendingPathComponent("messages.courier"))
/// if let recovery = store.recovery { log(recovery.error) }  // An old file was damaged and is kept beside the new one.
/// config.messageStore = store
/// let client = CourierClientFactory().makeMQTTClient(config: config)
/// …
/// await store.close()
/// ```
///
/// One store object serves all clients of the process. Each client has its own scope, which is its client id and
/// broker. A second object for the same file, in this process or another, is refused with `storeInUse`.
///
/// The store works on one thread of its own. Commits that arrive during a transaction are written together by the next
/// transaction. Completions are called on that thread in the order of the commits, while no lock is held. A message
/// that is removed before it was written never reaches the disk. A subscription counts as a row toward the limit of
/// rows, and a packet id does not. An `enqueue` or `keep` with an existing id replaces the row. If more than half of
/// the file and more than 4 MiB are free, the idle store returns the space to the file system.
///
/// If the disk is full or fails, the affected commits fail and change nothing, and later commits are tried again. If
/// the file is damaged, the store renames it at once and continues with a new file that has all readable rows; see
/// ``recovery``. If a shared transaction fails, the store tries each commit alone, so that only the affected commits
/// fail. On a completely full disk, even a removal may fail, and the next process sends the acknowledged message again.
public final class SQLiteMessageStore: MessageStore {
    /// The number of rows that one step of a read examines. Waiting commits are written between two steps.
    private static let rowsAtATime = 4_096

    /// The file, with symbolic links resolved.
    public let path: String

    private let thread: StoreThread
    private let date: @Sendable () -> Date
    private let recoveries: Recoveries

    /// The last recovery of a damaged file, during the opening or later; `nil` if there was none.
    public var recovery: StoreRecovery? { recoveries.last }

    /// The number of committed transactions since the store was opened.
    package var transactionCount: Int { thread.transactionCount }

    /// Opens a store. Creates the file and its folder if they are missing. Only this user can read them. Existing files
    /// of this user get mode 0600. Existing folders keep their mode, and the process's umask does not change. A
    /// symbolic link in place of the file is refused. Symbolic links in the path of its folder are followed.
    ///
    /// The call reads from the disk on the caller's thread. This takes milliseconds for any number of messages, and
    /// seconds if a large file is damaged.
    ///
    /// - Parameters:
    ///   - url: The file. Two further files of SQLite (`-wal`, `-shm`) and a lock file (`.lock`) are next to it.
    ///   - durability: The point at which a commit is complete; ``Durability-swift.enum/normal`` by default.
    ///   - limits: The limits of the store.
    ///   - date: Returns the present date, for messages that expire; the system's clock by default. The date is used
    ///     only for messages that were stored before the last boot.
    ///   - onRecovery: Called when a damaged file was replaced, during this call or later on the store's thread. The
    ///     closure must not block.
    /// - Throws: A ``CourierCore/CourierError``. Its code is `storeInUse` if another store object has the file, and
    ///   `storeFull` if the disk has no room. The code is `invalidConfiguration` if a limit is not positive or `url` is
    ///   not a file URL. The code is `storeFailed` if the file cannot be opened or was written by a newer version.
    public convenience init(
        at url: URL, durability: Durability = .normal, limits: Limits = .default,
        date: @escaping @Sendable () -> Date = { Date() },
        onRecovery: (@Sendable (StoreRecovery) -> Void)? = nil
    ) throws(CourierError) {
        try self.init(
            at: url, durability: durability, limits: limits, system: nil, schema: .current, date: date,
            onRecovery: onRecovery)
    }

    init(
        at url: URL, durability: Durability, limits: Limits, system: String?, schema: Schema = .current,
        date: @escaping @Sendable () -> Date = { Date() }, onRecovery: (@Sendable (StoreRecovery) -> Void)? = nil
    ) throws(CourierError) {
        guard limits.rows > 0, limits.bytes > 0, limits.waitingChanges > 0, limits.waitingBytes > 0, limits.logBytes > 0
        else {
            throw CourierError(
                .invalidConfiguration, "A limit of the message store \(url.path) is 0 or less. Give positive limits.")
        }
        let files = try DatabaseFiles(.messageStore, at: url)
        let recoveries = Recoveries(onRecovery)
        ClosingStores.wait(for: files.path)
        let opening = StoreOpening(
            files: files, durability: durability, limits: limits, system: system, schema: schema)
        let core = try StoreCore(opening, date: date) { recoveries.note($0) }
        thread = StoreThread(core, limits, path: files.path)
        path = files.path
        self.date = date
        self.recoveries = recoveries
        thread.start()
    }

    /// Writes earlier commits and closes the file in the background.
    deinit { closeInBackground() }

    /// Closes the file in the background, as ``close()`` does. A caller that opens the same file waits until the file
    /// is closed.
    func closeInBackground() {
        let path = path
        ClosingStores.begin(path)
        thread.close { ClosingStores.end(path) }
    }

    /// Writes earlier commits, closes the file and releases the lock. Later calls fail with `storeFailed`.
    public func close() async {
        await withCheckedContinuation { continuation in
            thread.close { continuation.resume() }
        }
    }

    /// Applies changes, all or none; see ``CourierCore/MessageStore``.
    ///
    /// - Parameters:
    ///   - changes: The changes, in the order in which they are applied.
    ///   - scope: The client id and broker that the rows belong to.
    ///   - completion: Called once, on the store's thread, after the completions of earlier batches.
    public func commit(
        _ changes: [StoreChange], in scope: StoreScope,
        completion: @escaping @Sendable (Result<Void, CourierError>) -> Void
    ) {
        thread.put(StoreBatch(changes, scope, completion))
    }

    /// Applies changes that a power cut may undo. If the changes are lost, the client only repeats a step of a
    /// delivery. With ``Durability-swift.enum/full``, these changes cause no `fsync`, and reach the disk with the next
    /// commit.
    ///
    /// - Parameters:
    ///   - changes: The changes, in the order in which they are applied.
    ///   - scope: The client id and broker that the rows belong to.
    ///   - completion: Called once, on the store's thread, after the completions of earlier batches.
    public func commitRepeatable(
        _ changes: [StoreChange], in scope: StoreScope,
        completion: @escaping @Sendable (Result<Void, CourierError>) -> Void
    ) {
        thread.put(StoreBatch(changes, scope, isRepeatable: true, completion))
    }
}

// MARK: - Reading

extension SQLiteMessageStore {
    /// Counts the rows of a scope, including expired messages that are not removed yet.
    ///
    /// - Parameter scope: The client id and broker that the rows belong to.
    /// - Returns: The counts, the payload bytes and the last message id.
    /// - Throws: A `CourierError` when the store cannot be read.
    public func summary(of scope: StoreScope) async throws -> StoreSummary {
        try await thread.read { _, ledger throws(SQLiteFailure) in
            guard let place = ledger.place(of: scope) else {
                return StoreSummary(outgoingCount: 0, incomingCount: 0, payloadBytes: 0, lastMessageID: nil)
            }
            return ledger[place].summary
        }
    }

    /// Returns a page of outgoing messages, oldest first. The page is read in steps of 4,096 rows. Batches can be
    /// written between two steps.
    ///
    /// - Parameters:
    ///   - scope: The client id and broker that the rows belong to.
    ///   - id: The last id of the previous page; `nil` for the first page.
    ///   - limit: The maximum number of messages.
    /// - Returns: The page; empty if no more messages follow.
    /// - Throws: A `CourierError` when the store cannot be read.
    public func outgoing(
        in scope: StoreScope, after id: StoredMessage.ID?, limit: Int
    ) async throws -> [StoredOutgoing] {
        try await page(in: scope, after: id, limit: limit, of: { $0.outgoing }, choosing: { $0.outgoing })
    }

    /// Returns a page of the outgoing messages that were sent and are not acknowledged, oldest first. The database
    /// selects these messages, which is much faster than reading all messages.
    ///
    /// - Parameters:
    ///   - scope: The client id and broker that the rows belong to.
    ///   - id: The last id of the previous page; `nil` for the first page.
    ///   - limit: The maximum number of messages.
    /// - Returns: The page; empty if no more messages follow.
    /// - Throws: A `CourierError` when the store cannot be read.
    public func sentOutgoing(
        in scope: StoreScope, after id: StoredMessage.ID?, limit: Int
    ) async throws -> [StoredOutgoing] {
        try await page(
            in: scope, after: id, limit: limit, areSent: true, of: { $0.outgoing }, choosing: { $0.outgoing })
    }

    /// Returns a page of incoming messages that no reader has received and that are not expired, oldest first. The page
    /// is read in steps of 4,096 rows. Batches can be written between two steps.
    ///
    /// - Parameters:
    ///   - scope: The client id and broker that the rows belong to.
    ///   - filter: The filter that the messages must match; `nil` for all messages.
    ///   - id: The last id of the previous page; `nil` for the first page.
    ///   - limit: The maximum number of messages.
    /// - Returns: The page; empty if no more messages follow.
    /// - Throws: A `CourierError` when the store cannot be read.
    public func incoming(
        in scope: StoreScope, matching filter: TopicFilter?, after id: StoredMessage.ID?, limit: Int
    ) async throws -> [StoredMessage] {
        try await incoming(
            in: scope, matching: filter, after: id, limit: limit, at: StoreTime(date: date(), bootTime: .now))
    }

    /// Returns a page of incoming messages that no reader has received and that are not expired at a given time, oldest
    /// first. The page is read in steps of 4,096 rows. Batches can be written between two steps.
    ///
    /// - Parameters:
    ///   - scope: The client id and broker that the rows belong to.
    ///   - filter: The filter that the messages must match; `nil` for all messages.
    ///   - id: The last id of the previous page; `nil` for the first page.
    ///   - limit: The maximum number of messages.
    ///   - time: The present time.
    /// - Returns: The page; empty if no more messages follow.
    /// - Throws: A `CourierError` when the store cannot be read.
    public func incoming(
        in scope: StoreScope, matching filter: TopicFilter?, after id: StoredMessage.ID?, limit: Int, at time: StoreTime
    ) async throws -> [StoredMessage] {
        try await page(
            in: scope, after: id, limit: limit, of: { $0.incoming },
            choosing: { row in row.message.isOver(at: time) || !row.message.matches(filter) ? nil : row.message })
    }

    /// Returns a page of the outgoing messages that the client rejected (stopped sending), in the order of their ids.
    ///
    /// The store keeps at most 1,000 of these messages for all scopes together, with at most 16 MiB of payloads, topics
    /// and properties. The oldest messages are removed first. ``Limits-swift.struct`` do not count these messages. A
    /// rejected message larger than 16 MiB is not kept.
    ///
    /// - Parameters:
    ///   - scope: The client id and broker that the rows belong to.
    ///   - id: The last id of the previous page; `nil` for the first page.
    ///   - limit: The maximum number of messages.
    /// - Returns: The page; empty if no more messages follow.
    /// - Throws: A `CourierError` when the store cannot be read.
    public func rejected(
        in scope: StoreScope, after id: StoredMessage.ID?, limit: Int
    ) async throws -> [RejectedMessage] {
        try await thread.read { tables, ledger throws(SQLiteFailure) in
            guard limit > 0, let place = ledger.place(of: scope) else { return [] }
            let key = ledger[place].key
            guard let first = RowKey.behind(id, in: key) else { return [] }
            return try tables.rejected.read(from: first, through: .last(of: key), limit: limit)
        }
    }

    /// `true`.
    public var keepsJobs: Bool { true }

    /// Returns a page of jobs, in the order of their ids.
    ///
    /// - Parameters:
    ///   - scope: The client id and broker that the rows belong to.
    ///   - id: The last id of the previous page; `nil` for the first page.
    ///   - limit: The maximum number of jobs.
    /// - Returns: The page. It is empty after the last page.
    /// - Throws: A `CourierError` when the store cannot be read.
    public func jobs(in scope: StoreScope, after id: StoredMessage.ID?, limit: Int) async throws -> [StoredJob] {
        try await thread.read { tables, ledger throws(SQLiteFailure) in
            guard limit > 0, let place = ledger.place(of: scope) else { return [] }
            let key = ledger[place].key
            guard let first = RowKey.behind(id, in: key) else { return [] }
            return try tables.jobs.read(from: first, through: .last(of: key), limit: limit)
        }
    }

    /// Returns the keys of handled messages of a processor.
    ///
    /// - Parameters:
    ///   - processor: The name of the processor.
    ///   - scope: The client id and broker that the rows belong to.
    /// - Returns: The keys.
    /// - Throws: A `CourierError` when the store cannot be read.
    public func processedKeys(of processor: String, in scope: StoreScope) async throws -> [ProcessedKey] {
        try await thread.read { tables, ledger throws(SQLiteFailure) in
            guard let place = ledger.place(of: scope) else { return [] }
            return try tables.jobs.keys(of: processor, ledger[place].key)
        }
    }

    /// The packet ids of QoS 2 messages whose PUBREL was not received yet.
    ///
    /// - Parameter scope: The client id and broker that the rows belong to.
    /// - Returns: The ids.
    /// - Throws: A `CourierError` when the store cannot be read.
    public func incomingPacketIDs(in scope: StoreScope) async throws -> Set<UInt16> {
        try await thread.read { tables, ledger throws(SQLiteFailure) in
            guard let place = ledger.place(of: scope) else { return [] }
            return try tables.packetIDs(of: ledger[place].key)
        }
    }

    /// The filters that the client wants to subscribe to or to unsubscribe from, in the order of their bytes.
    ///
    /// - Parameter scope: The client id and broker that the rows belong to.
    /// - Returns: One entry for each filter.
    /// - Throws: A `CourierError` when the store cannot be read.
    public func subscriptions(in scope: StoreScope) async throws -> [StoredSubscription] {
        try await thread.read { tables, ledger throws(SQLiteFailure) in
            guard let place = ledger.place(of: scope) else { return [] }
            return try tables.subscriptions(of: ledger[place].key)
        }
    }

    /// All scopes of the file, each with a summary.
    ///
    /// - Returns: The scopes, in the order of their first use.
    /// - Throws: A `CourierError` when the store cannot be read.
    public func scopes() async throws -> [(scope: StoreScope, summary: StoreSummary)] {
        try await thread.read { _, ledger throws(SQLiteFailure) in ledger.all.map { ($0.name, $0.summary) } }
    }

    /// Removes all rows of a scope. Later message ids of the scope are still higher than all earlier ids.
    ///
    /// - Parameter scope: The client id and broker that the rows belong to.
    /// - Throws: A `CourierError` when the rows cannot be removed.
    public func purge(_ scope: StoreScope) async throws {
        try await withCheckedThrowingContinuation { continuation in
            commit([.removeAll], in: scope) { continuation.resume(with: $0) }
        }
    }

    private func page<Row: Sendable>(
        in scope: StoreScope, after id: StoredMessage.ID?, limit: Int, areSent: Bool = false,
        of table: @escaping @Sendable (StoreTables) -> MessageTable,
        choosing choose: @escaping @Sendable (MessageRow) -> Row?
    ) async throws -> [Row] {
        var page: [Row] = []
        var last = id
        while page.count < limit {
            let (start, wanted) = (last, limit - page.count)
            let step = try await thread.read { tables, ledger throws(SQLiteFailure) -> ([Row], StoredMessage.ID?) in
                guard let place = ledger.place(of: scope) else { return ([], nil) }
                let key = ledger[place].key
                guard let first = RowKey.behind(start, in: key) else { return ([], nil) }
                var (rows, seen, end): ([Row], Int, StoredMessage.ID?) = ([], 0, nil)
                let count = Self.rowsAtATime
                try table(tables).visit(from: first, through: .last(of: key), limit: count, areSent: areSent) {
                    row throws(SQLiteFailure) -> Bool in
                    seen += 1
                    end = row.key.id
                    if let row = choose(row) { rows.append(row) }
                    return rows.count < wanted
                }
                return (rows, seen == count && rows.count < wanted ? end : nil)
            }
            page += step.0
            guard let end = step.1 else { break }
            last = end
        }
        return page
    }
}

/// Stores the last recovery of a damaged file, and reports each recovery.
private final class Recoveries: Sendable {
    private let latest = Mutex<StoreRecovery?>(nil)
    private let tell: (@Sendable (StoreRecovery) -> Void)?

    init(_ tell: (@Sendable (StoreRecovery) -> Void)?) { self.tell = tell }

    var last: StoreRecovery? { latest.withLock { $0 } }

    func note(_ recovery: StoreRecovery) {
        latest.withLock { $0 = recovery }
        tell?(recovery)
    }
}
