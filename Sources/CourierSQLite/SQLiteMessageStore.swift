public import CourierCore
public import Foundation
import Synchronization

/// A message store on disk: what it holds survives the process, and with ``Durability-swift.enum/full`` a power cut.
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
/// One store object serves all clients of the process; they are told apart by their scopes. A second object for the
/// same file, in this process or another, is refused with `storeInUse`.
///
/// All work is done on one thread of the store. Commits that come while one is written are written together by the
/// next transaction, and their completions come on that thread, in the order of the commits, without a lock held.
/// What is stored and removed again before it was written never reaches the disk. Subscriptions count as rows,
/// packet ids do not. An `enqueue` or `keep` with an id that is in use replaces the row.
///
/// When the disk is full or fails, the commits concerned fail and change nothing, and the next ones are tried anew.
/// A file that turns out to be damaged is set aside under a new name and replaced by what can be read of it, at once;
/// see ``recovery``.
public final class SQLiteMessageStore: MessageStore {
    /// How many rows are looked at before commits get their turn.
    private static let rowsAtATime = 4_096

    /// The file, with symbolic links resolved.
    public let path: String

    private let thread: StoreThread
    private let date: @Sendable () -> Date
    private let recoveries: Recoveries

    /// What was damaged last, when anything was: at the opening or later.
    public var recovery: StoreRecovery? { recoveries.last }

    /// How many transactions were committed since the store was opened.
    package var transactionCount: Int { thread.transactionCount }

    /// Opens a store, and makes the file and its folder when they are missing; both can be read by this user only.
    ///
    /// It reads from the disk on the caller's thread: milliseconds, whatever is stored; seconds when a large file is
    /// damaged and has to be saved.
    ///
    /// - Parameters:
    ///   - url: The file. Two further files of SQLite (`-wal`, `-shm`) and a lock (`.lock`) stand beside it.
    ///   - durability: When a commit counts as done, ``Durability-swift.enum/normal`` by default.
    ///   - limits: How much the store takes.
    ///   - date: Says what time it is, for messages that expire; the system's clock by default. It decides only about messages
    ///     that were not stored in the present boot.
    ///   - onRecovery: Learns of a damaged file that was replaced: in this call, or later on the store's thread. It
    ///     must not block.
    /// - Throws: A ``CourierCore/CourierError`` with `storeInUse` when another store object has the file,
    ///   `storeFailed` when it cannot be opened or was written by a newer version, `storeFull` when the disk has no
    ///   room, or `invalidConfiguration`.
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

    /// Writes what was committed before and closes the file, without waiting for it.
    deinit { closeInBackground() }

    /// Closes the file as ``close()`` does. Who opens it meanwhile waits for that.
    func closeInBackground() {
        let path = path
        ClosingStores.begin(path)
        thread.close { ClosingStores.end(path) }
    }

    /// Writes what was committed before, closes the file and gives up the lock. Whatever is called later fails with
    /// `storeFailed`.
    public func close() async {
        await withCheckedContinuation { continuation in
            thread.close { continuation.resume() }
        }
    }

    /// Applies changes, all or none; see ``CourierCore/MessageStore``.
    ///
    /// - Parameters:
    ///   - changes: The changes, in order.
    ///   - scope: Whose rows.
    ///   - completion: Called once, on the store's thread, after those of earlier batches.
    public func commit(
        _ changes: [StoreChange], in scope: StoreScope,
        completion: @escaping @Sendable (Result<Void, CourierError>) -> Void
    ) {
        thread.put(StoreBatch(changes, scope, completion))
    }

    /// Applies changes whose loss would cost no more than a repetition: with ``Durability-swift.enum/full`` they cost no
    /// `fsync` of their own, and have what the next commit does.
    ///
    /// - Parameters:
    ///   - changes: The changes, in order.
    ///   - scope: Whose rows.
    ///   - completion: Called once, on the store's thread, after those of earlier batches.
    public func commitRepeatable(
        _ changes: [StoreChange], in scope: StoreScope,
        completion: @escaping @Sendable (Result<Void, CourierError>) -> Void
    ) {
        thread.put(StoreBatch(changes, scope, isRepeatable: true, completion))
    }
}

// MARK: - Reading

extension SQLiteMessageStore {
    /// Counts what the scope holds, with expired messages that nobody has removed.
    ///
    /// - Parameter scope: Whose rows.
    /// - Returns: Counts and the last id.
    /// - Throws: A `CourierError` when the store cannot be read.
    public func summary(of scope: StoreScope) async throws -> StoreSummary {
        try await thread.read { _, ledger throws(SQLiteFailure) in
            guard let place = ledger.place(of: scope) else {
                return StoreSummary(outgoingCount: 0, incomingCount: 0, payloadBytes: 0, lastMessageID: nil)
            }
            return ledger[place].summary
        }
    }

    /// A page of outgoing messages, oldest first. It is read in steps of 4,096 rows, between which batches may be
    /// written.
    ///
    /// - Parameters:
    ///   - scope: Whose rows.
    ///   - id: The last id of the page before; `nil` for the first page.
    ///   - limit: At most this many.
    /// - Returns: The page. It is empty after the last page.
    /// - Throws: A `CourierError` when the store cannot be read.
    public func outgoing(
        in scope: StoreScope, after id: StoredMessage.ID?, limit: Int
    ) async throws -> [StoredOutgoing] {
        try await page(in: scope, after: id, limit: limit, of: { $0.outgoing }, choosing: { $0.outgoing })
    }

    /// A page of the outgoing messages that were sent and have not ended, oldest first. The database looks for them, which
    /// takes a fraction of the time of reading all messages.
    ///
    /// - Parameters:
    ///   - scope: Whose rows.
    ///   - id: The last id of the page before; `nil` for the first page.
    ///   - limit: At most this many.
    /// - Returns: The page. It is empty after the last page.
    /// - Throws: A `CourierError` when the store cannot be read.
    public func sentOutgoing(
        in scope: StoreScope, after id: StoredMessage.ID?, limit: Int
    ) async throws -> [StoredOutgoing] {
        try await page(
            in: scope, after: id, limit: limit, areSent: true, of: { $0.outgoing }, choosing: { $0.outgoing })
    }

    /// A page of incoming messages that no reader has taken and whose time is not over, oldest first. It is read in
    /// steps of 4,096 rows, between which batches may be written.
    ///
    /// - Parameters:
    ///   - scope: Whose rows.
    ///   - filter: Only messages that match it; `nil` for all.
    ///   - id: The last id of the page before; `nil` for the first page.
    ///   - limit: At most this many.
    /// - Returns: The page. It is empty after the last page.
    /// - Throws: A `CourierError` when the store cannot be read.
    public func incoming(
        in scope: StoreScope, matching filter: TopicFilter?, after id: StoredMessage.ID?, limit: Int
    ) async throws -> [StoredMessage] {
        try await incoming(
            in: scope, matching: filter, after: id, limit: limit, at: StoreTime(date: date(), bootTime: .now))
    }

    /// A page of incoming messages that no reader has taken and whose time is not over at a moment, oldest first. It is read
    /// in steps of 4,096 rows, between which batches may be written.
    ///
    /// - Parameters:
    ///   - scope: Whose rows.
    ///   - filter: Only messages that match it; `nil` for all.
    ///   - id: The last id of the page before; `nil` for the first page.
    ///   - limit: At most this many.
    ///   - time: The present moment.
    /// - Returns: The page. It is empty after the last page.
    /// - Throws: A `CourierError` when the store cannot be read.
    public func incoming(
        in scope: StoreScope, matching filter: TopicFilter?, after id: StoredMessage.ID?, limit: Int, at time: StoreTime
    ) async throws -> [StoredMessage] {
        try await page(
            in: scope, after: id, limit: limit, of: { $0.incoming },
            choosing: { row in row.message.isOver(at: time) || !row.message.matches(filter) ? nil : row.message })
    }

    /// A page of the outgoing messages that the client gave up, in the order of their ids.
    ///
    /// The store keeps 1,000 of them for all scopes, with 16 MiB of payloads, topics and properties. The oldest go first.
    /// ``Limits-swift.struct`` do not count them.
    ///
    /// - Parameters:
    ///   - scope: Whose rows.
    ///   - id: The last id of the page before; `nil` for the first page.
    ///   - limit: At most this many.
    /// - Returns: The page. It is empty after the last page.
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

    /// The packet ids of QoS 2 messages whose PUBREL has not come.
    ///
    /// - Parameter scope: Whose rows.
    /// - Returns: The ids.
    /// - Throws: A `CourierError` when the store cannot be read.
    public func incomingPacketIDs(in scope: StoreScope) async throws -> Set<UInt16> {
        try await thread.read { tables, ledger throws(SQLiteFailure) in
            guard let place = ledger.place(of: scope) else { return [] }
            return try tables.packetIDs(of: ledger[place].key)
        }
    }

    /// The filters that the client wants or wants to be rid of, in the order of their bytes.
    ///
    /// - Parameter scope: Whose rows.
    /// - Returns: One entry for each filter.
    /// - Throws: A `CourierError` when the store cannot be read.
    public func subscriptions(in scope: StoreScope) async throws -> [StoredSubscription] {
        try await thread.read { tables, ledger throws(SQLiteFailure) in
            guard let place = ledger.place(of: scope) else { return [] }
            return try tables.subscriptions(of: ledger[place].key)
        }
    }

    /// All scopes that the file knows, with what each holds.
    ///
    /// - Returns: The scopes, in the order of their first use.
    /// - Throws: A `CourierError` when the store cannot be read.
    public func scopes() async throws -> [(scope: StoreScope, summary: StoreSummary)] {
        try await thread.read { _, ledger throws(SQLiteFailure) in ledger.all.map { ($0.name, $0.summary) } }
    }

    /// Removes all rows of a scope; its message ids still continue growing.
    ///
    /// - Parameter scope: Whose rows.
    /// - Throws: A `CourierError` when they cannot be removed.
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

/// Remembers the last recovery, and tells of each.
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
