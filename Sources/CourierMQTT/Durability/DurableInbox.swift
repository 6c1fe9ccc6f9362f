import CourierCore
import CourierTransport
import Foundation

/// Stores received messages that no reader has taken, and reads them for the first matching reader.
///
/// Safe to share between threads: all state is used on the client's event loop only, and the methods check this.
final class DurableInbox: @unchecked Sendable {
    /// The largest number of rows that one read returns.
    static let pageSize = 256

    /// The rows that one read returned.
    struct Page: Sendable {
        let rows: [StoredMessage]
        /// The id of the last row that was read. The next read starts after this row.
        let last: StoredMessage.ID?
        /// True if the store may contain more rows after `last`.
        let mayHaveMore: Bool
        /// The epoch of the rows: the number of sessions that were destroyed before the read.
        let epoch: Int
    }

    let store: any MessageStore
    let loop: EventLoop
    let steps: StoreCommitQueue
    /// Commits new rows and all changes of packet ids. A new row may have to wait until the store has room. Rows are
    /// removed by the separate queue `steps`, because a removal frees room and must not wait for new rows.
    ///
    /// All changes of packet ids are committed in the order of the calls. Otherwise, the removal of an id could also
    /// remove the same id of a later message.
    let additions: StoreCommitQueue
    private let limit: StoreSize
    private let clock: StoreClock
    let nextID: () -> StoredMessage.ID
    private(set) var scope: StoreScope?
    /// Returns the epoch, which is the number of sessions that were destroyed so far. The epoch is needed to identify a
    /// row, because rows of different epochs may have the same id.
    let epoch: () -> Int
    /// The scope (client id and broker) that the rows had when the client ended; `nil` before the end.
    private var endedScope: StoreScope?
    /// An upper bound of the number of rows in the store. The number includes rows that readers have received, and may
    /// include expired rows.
    private var count = 0
    /// The ids of the rows that readers have received. The id of a finished row stays here until the store has removed
    /// the row.
    var handedOut: Set<StoredMessage.ID> = []
    /// The ids of the rows that a reader has finished and that the store must remove. All of these ids are also in
    /// `handedOut`.
    var removing: Set<StoredMessage.ID> = []
    /// The ids of the rows that were removed while the store was being read. The result of that read may still contain
    /// these rows, so the inbox leaves them out.
    private var removed: Set<StoredMessage.ID> = []
    /// Called after a new message was stored. The readers that were added before this call then read the message.
    var appeared: ((_ topic: String) -> Void)?
    /// Reports whether too many bytes wait to be stored. Called with `true` for each message that is added while the
    /// number of waiting bytes is at or above the limit. Called once with `false` when the number has fallen to half of
    /// the limit.
    var onCongestion: ((Bool) -> Void)?
    private var unstoredByteCount = 0
    private var isCongested = false
    /// Called with the number of rows that expired before a reader received them.
    var expired: ((_ count: Int) -> Void)?
    private var readings: [Int: Task<Void, Never>] = [:]
    private var lastReading = 0

    /// Creates a closed inbox, which ``begin(_:_:)`` opens. The inbox keeps at most `limit.rows` rows. While
    /// `limit.bytes` bytes or more wait to be stored, the client must pause reading from the broker.
    init(
        _ store: any MessageStore, limit: StoreSize, steps: StoreCommitQueue, additions: StoreCommitQueue,
        clock: StoreClock = StoreClock(),
        on loop: EventLoop, epoch: @escaping () -> Int, nextID: @escaping () -> StoredMessage.ID
    ) {
        self.store = store
        self.clock = clock
        self.epoch = epoch
        self.limit = limit
        self.steps = steps
        self.additions = additions
        self.loop = loop
        self.nextID = nextID
    }

    /// The current time, which determines the ages of rows.
    var time: StoreTime { clock.time(at: loop.now) }

    /// True if the store may contain a row that no reader has received.
    var hasRows: Bool { scope != nil && count > handedOut.count }

    /// True while a read of the store is running.
    var isReading: Bool { !readings.isEmpty }

    /// Opens the inbox for `scope`, where an earlier process left `count` rows.
    func begin(_ count: Int, _ scope: StoreScope) {
        loop.preconditionOnLoop()
        self.count += count
        self.scope = scope
        additions.begin(scope)
    }

    /// Stores a message for `lifetime`; `nil` means no limit. Also stores `packetID`, so that the client recognizes a
    /// repetition of the message. Returns `false` if there are too many rows. Then the message is not stored, and
    /// `settled` is not called.
    ///
    /// `settled` is called with success when the message is stored, so that the message can be acknowledged. If the
    /// store has no room, `settled` is called with `storeFull`. If `isNew` is `true`, the readers that were added
    /// before the message was stored receive the message.
    func keep(
        _ message: ReceivedMessage, packetID: UInt16?, for lifetime: Duration?, isNew: Bool = true,
        settled: @escaping (Result<Void, CourierError>) -> Void
    ) -> Bool {
        loop.preconditionOnLoop()
        guard count < limit.rows else { return false }
        count += 1
        let row = StoredMessage(message, nextID(), at: time, for: lifetime)
        // The message and its page (the memory that holds the received bytes) stay in memory until the row is stored,
        // because a new reader may need them. So both count as unstored bytes.
        let byteCount = message.page.byteCount + row.payload.count + row.properties.heldByteCount
        var changes: [StoreChange] = [.keep(row)]
        if let packetID { changes.append(.rememberPacketID(packetID)) }
        addUnstoredBytes(byteCount)
        additions.add(changes, isRefusable: true) { [weak self] outcome in
            if let self, outcome.isRefusal { count = max(count - 1, handedOut.count) }
            self?.removeUnstoredBytes(byteCount)
            settled(outcome)
            if isNew, case .success = outcome { self?.appeared?(message.topic) }
        }
        return true
    }

    func addUnstoredBytes(_ byteCount: Int) {
        unstoredByteCount += byteCount
        guard unstoredByteCount >= limit.bytes else { return }
        isCongested = true
        onCongestion?(true)
    }

    func removeUnstoredBytes(_ byteCount: Int) {
        unstoredByteCount -= byteCount
        guard isCongested, unstoredByteCount <= limit.bytes / 2 else { return }
        isCongested = false
        onCongestion?(false)
    }

    /// Stores the packet id that identifies a repetition of a QoS 2 message. When `settled` is called with success,
    /// PUBREC may be sent. This change and the changes of ``keep(_:packetID:for:isNew:settled:)`` and
    /// ``forgetPacketIDs()`` are stored in the order of the calls.
    func remember(_ packetID: UInt16, settled: @escaping (Result<Void, CourierError>) -> Void) {
        additions.add([.rememberPacketID(packetID)], settled: settled)
    }

    /// Removes a packet id. Called when PUBREL has arrived or another message has the id now, because the broker does
    /// not repeat the old message any more. All changes of packet ids are stored in the order of the calls. `stored` is
    /// called when the removal is stored. From then on, the broker may use the id for a new message.
    func forget(_ packetID: UInt16, stored: (() -> Void)? = nil) {
        additions.add(.forgetPacketID(packetID), stored: stored)
    }

    /// Removes all packet ids, because in another session each id may belong to a new message. `settled` is called when
    /// the change is stored or has failed.
    func forgetPacketIDs(settled: ((Result<Void, CourierError>) -> Void)? = nil) {
        additions.add([.forgetAllPacketIDs], settled: settled)
    }

    /// Reads the next rows after `last` that match `filter` and that no reader has received. `done` is called on the
    /// event loop with the rows, which then belong to the reader. If the inbox is closed, `done` gets no rows.
    func read(
        _ filter: TopicFilter?, after last: StoredMessage.ID?,
        _ done: @escaping @Sendable (Result<Page, CourierError>) -> Void
    ) {
        loop.preconditionOnLoop()
        guard let scope else {
            return done(.success(Page(rows: [], last: last, mayHaveMore: false, epoch: epoch())))
        }
        guard additions.isIdle || additions.isFailing else {
            // Wait until earlier messages are stored, so that the reader receives them before messages that arrive
            // later.
            return additions.add([]) { [self] _ in read(filter, after: last, done) }
        }
        lastReading += 1
        let (store, loop, number, time) = (store, loop, lastReading, time)
        readings[number] = Task { [weak self] in
            let page: Result<[StoredMessage], CourierError>
            do {
                page = .success(
                    try await store.incoming(
                        in: scope, matching: filter, after: last, limit: Self.pageSize, at: time))
            } catch {
                page = .failure(.reading(error))
            }
            loop.execute { [self] in
                guard let self, readings[number] != nil else { return }
                let found = page.map { rows in
                    Page(
                        rows: handOut(rows), last: rows.last?.id ?? last,
                        mayHaveMore: rows.count >= Self.pageSize, epoch: epoch())
                }
                endReading(number)
                done(found)
            }
        }
    }

    private func handOut(_ rows: [StoredMessage]) -> [StoredMessage] {
        rows.filter { !removed.contains($0.id) && handedOut.insert($0.id).inserted }
    }

    private func endReading(_ number: Int) {
        readings[number] = nil
        if readings.isEmpty { removed = [] }
    }

    /// Removes a row whose reader has finished it. `settled` is called when the removal is stored. If the row belongs
    /// to a destroyed session, `settled` is called at once.
    func remove(
        _ id: StoredMessage.ID, of epoch: Int, settled: (@Sendable (Result<Void, CourierError>) -> Void)? = nil
    ) {
        loop.preconditionOnLoop()
        guard epoch == self.epoch(), handedOut.contains(id), removing.insert(id).inserted else {
            settled?(.success(()))
            return
        }
        if let endedScope { return store.commit([.removeIncoming(id)], in: endedScope) { settled?($0) } }
        steps.add([.removeIncoming(id)]) { [weak self] outcome in
            if case .success = outcome { self?.wasRemoved(id, of: epoch) }
            settled?(outcome)
        }
    }

    func wasRemoved(_ id: StoredMessage.ID, of epoch: Int) {
        guard epoch == self.epoch() else { return }
        removing.remove(id)
        guard handedOut.remove(id) != nil else { return }
        count = max(count - 1, handedOut.count)
        if !readings.isEmpty { removed.insert(id) }
    }

    /// Makes a row available to the next reader, because the reader that received the row has not finished it.
    func giveBack(_ id: StoredMessage.ID, of epoch: Int) {
        loop.preconditionOnLoop()
        if epoch == self.epoch(), !removing.contains(id) { handedOut.remove(id) }
    }

    /// Removes the expired rows from the store.
    func removeExpired() {
        loop.preconditionOnLoop()
        guard count > 0 else { return }
        steps.add([.removeExpired(at: time)]) { [weak self] in if case .success = $0 { self?.recount() } }
    }

    /// Updates `count` after expired rows were removed. Asks the store, because only the store knows how many rows have
    /// expired.
    private func recount() {
        guard let scope, additions.isIdle else { return }
        let (store, loop, countBefore) = (store, loop, count)
        lastReading += 1
        let number = lastReading
        readings[number] = Task { [weak self] in
            let summary = try? await store.summary(of: scope)
            loop.execute { [self] in
                guard let self, readings[number] != nil else { return }
                endReading(number)
                guard let summary, count == countBefore, additions.isIdle else { return }
                // Add all rows that readers have received. If such a row has expired, the store no longer counts it,
                // but `count` includes it until its reader has finished it.
                count = min(count, summary.incomingCount + handedOut.count)
                if count < countBefore { expired?(countBefore - count) }
            }
        }
    }

    /// Closes the inbox and forgets its rows, because the session is destroyed.
    func removeAll(_ error: CourierError) {
        loop.preconditionOnLoop()
        stopReading()
        scope = nil
        count = 0
        (handedOut, removing) = ([], [])
        additions.removeAll(error)
    }

    /// Closes the inbox, because the client has ended. The rows stay in the store. The reader of a publisher may
    /// outlive the client, and can then still remove the rows that it has received.
    func finish(_ error: CourierError) {
        loop.preconditionOnLoop()
        stopReading()
        (endedScope, scope) = (scope ?? endedScope, nil)
        additions.finish(error)
    }

    private func stopReading() {
        for (_, reading) in readings { reading.cancel() }
        (readings, removed) = ([:], [])
    }
}

extension Result<Void, CourierError> {
    /// True if the store had no room.
    var isRefusal: Bool { if case .failure(let error) = self { error.code == .storeFull } else { false } }
}

extension StoredMessage {
    /// Creates the row of a received message.
    init(_ message: ReceivedMessage, _ id: ID, at time: StoreTime, for lifetime: Duration?) {
        self.init(
            id: id, topic: message.topic, payload: message.withPayload { [UInt8]($0) }, qos: message.qos,
            isRetained: message.isRetained, properties: message.properties, storedAt: time.date,
            expiresAt: lifetime.map { time.date.addingTimeInterval($0 / .seconds(1)) }, bootTime: time.bootTime)
    }
}
