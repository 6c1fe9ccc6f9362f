import CourierCore
import CourierTransport
import Foundation

/// The rows of received messages that no reader has taken: kept while none comes, and read again for the first that does.
///
/// Safe to share: everything is touched on the client's loop only, which each entry checks.
final class DurableInbox: @unchecked Sendable {
    /// How many rows a reader is given at a time.
    static let pageSize = 256

    /// The result of one read.
    struct Page: Sendable {
        let rows: [StoredMessage]
        /// The last row that was seen, from which the next reading continues.
        let last: StoredMessage.ID?
        /// Whether there were more rows by then.
        let mayHaveMore: Bool
        /// The epoch of the session that the rows belong to.
        let epoch: Int
    }

    private let store: any MessageStore
    private let loop: EventLoop
    private let steps: StoreCommitQueue
    /// New rows, which wait for room without holding up what makes some, and all changes of packet ids: in one lane, so that
    /// the end of a message never erases the id of a later message.
    private let additions: StoreCommitQueue
    private let limit: StoreSize
    private let clock: StoreClock
    private let nextID: () -> StoredMessage.ID
    private var scope: StoreScope?
    /// The epoch of the session that the loop works for. Rows of other sessions may have the same ids.
    let epoch: () -> Int
    /// Whose rows they were when the client ended.
    private var endedScope: StoreScope?
    /// An upper bound of the number of rows, including those of readers; some rows may have expired.
    private var count = 0
    /// The rows that a reader has, until the store has removed them.
    private var handedOut: Set<StoredMessage.ID> = []
    /// The handed-out rows that their reader has finished.
    private var removing: Set<StoredMessage.ID> = []
    /// The rows that were removed while something was being read, which may have seen them still.
    private var removed: Set<StoredMessage.ID> = []
    /// Called for each stored row, for readers that were added meanwhile.
    var appeared: ((_ topic: String) -> Void)?
    /// Called with `true` for each added message while the bytes that are not stored yet are at the limit, and once with
    /// `false` when they have fallen to half of it.
    var onCongestion: ((Bool) -> Void)?
    private var unstoredByteCount = 0
    private var isCongested = false
    /// Called for rows that expired before a reader was added.
    var expired: ((_ count: Int) -> Void)?
    private var readings: [Int: Task<Void, Never>] = [:]
    private var lastReading = 0

    /// Makes an inbox that is closed until ``begin(_:_:)``. It keeps at most `limit.rows` rows. Reading has to pause while
    /// messages of `limit.bytes` bytes are on their way into the store.
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

    /// The present time, for the ages of rows.
    private var time: StoreTime { clock.time(at: loop.now) }

    /// Whether there may be a row that no reader has.
    var hasRows: Bool { scope != nil && count > handedOut.count }

    /// Whether something is being read from the store.
    var isReading: Bool { !readings.isEmpty }

    /// Opens, with as many rows of an earlier process.
    func begin(_ count: Int, _ scope: StoreScope) {
        loop.preconditionOnLoop()
        self.count += count
        self.scope = scope
        additions.begin(scope)
    }

    /// Stores a message for its `lifetime` (`nil` for no limit), with the packet id that identifies a repetition. Returns `false`
    /// if there are too many messages. `settled` is called with success when the broker may forget the message, and with
    /// `storeFull` if the store has no room. Readers that were added meanwhile get it if it `isNew`.
    func keep(
        _ message: ReceivedMessage, packetID: UInt16?, for lifetime: Duration?, isNew: Bool = true,
        settled: @escaping (Result<Void, CourierError>) -> Void
    ) -> Bool {
        loop.preconditionOnLoop()
        guard count < limit.rows else { return false }
        count += 1
        let row = StoredMessage(message, nextID(), at: time, for: lifetime)
        // Until it is stored, the message's page is there as well, for a reader that comes meanwhile.
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

    private func addUnstoredBytes(_ byteCount: Int) {
        unstoredByteCount += byteCount
        guard unstoredByteCount >= limit.bytes else { return }
        isCongested = true
        onCongestion?(true)
    }

    private func removeUnstoredBytes(_ byteCount: Int) {
        unstoredByteCount -= byteCount
        guard isCongested, unstoredByteCount <= limit.bytes / 2 else { return }
        isCongested = false
        onCongestion?(false)
    }

    /// Stores the packet id that identifies a repetition of a QoS 2 message. PUBREC may be sent when `settled` is called with
    /// success. In the order of ``keep(_:packetID:for:isNew:settled:)`` and ``forgetPacketIDs()``.
    func remember(_ packetID: UInt16, settled: @escaping (Result<Void, CourierError>) -> Void) {
        additions.add([.rememberPacketID(packetID)], settled: settled)
    }

    /// The message with this packet id is not repeated any more: PUBREL came, or another message has the id. In the same
    /// order; `stored` is called when the broker may use the id for a new message.
    func forget(_ packetID: UInt16, stored: (() -> Void)? = nil) {
        additions.add(.forgetPacketID(packetID), stored: stored)
    }

    /// The broker has lost the session: every packet id means a new message. `settled` is called when that is stored.
    func forgetPacketIDs(settled: ((Result<Void, CourierError>) -> Void)? = nil) {
        additions.add([.forgetAllPacketIDs], settled: settled)
    }

    /// Reads the next rows behind `last` that match and are not handed out. `done` is called on the loop with the rows, which
    /// count as handed out. Without a session there are no rows.
    func read(
        _ filter: TopicFilter?, after last: StoredMessage.ID?,
        _ done: @escaping @Sendable (Result<Page, CourierError>) -> Void
    ) {
        loop.preconditionOnLoop()
        guard let scope else {
            return done(.success(Page(rows: [], last: last, mayHaveMore: false, epoch: epoch())))
        }
        guard additions.isIdle || additions.isFailing else {
            // Messages on their way into the store come before messages that arrive later.
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

    /// A reader is done with a row; `settled` is called when that is stored, and at once where the row went with its session.
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

    private func wasRemoved(_ id: StoredMessage.ID, of epoch: Int) {
        guard epoch == self.epoch() else { return }
        removing.remove(id)
        guard handedOut.remove(id) != nil else { return }
        count = max(count - 1, handedOut.count)
        if !readings.isEmpty { removed.insert(id) }
    }

    /// A reader has left a row to the next one.
    func giveBack(_ id: StoredMessage.ID, of epoch: Int) {
        loop.preconditionOnLoop()
        if epoch == self.epoch(), !removing.contains(id) { handedOut.remove(id) }
    }

    /// Removes the rows whose time is over.
    func removeExpired() {
        loop.preconditionOnLoop()
        guard count > 0 else { return }
        steps.add([.removeExpired(at: time)]) { [weak self] in if case .success = $0 { self?.recount() } }
    }

    /// Asks how many rows there are, which only the store knows once some have expired.
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
                // Rows that a reader has may have expired, too, and are still counted out when it is done with them.
                count = min(count, summary.incomingCount + handedOut.count)
                if count < countBefore { expired?(countBefore - count) }
            }
        }
    }

    /// The session is destroyed.
    func removeAll(_ error: CourierError) {
        loop.preconditionOnLoop()
        stopReading()
        scope = nil
        count = 0
        (handedOut, removing) = ([], [])
        additions.removeAll(error)
    }

    /// The client has ended. Stored messages stay, except those that a reader has and takes later, because publishers outlive the
    /// client.
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
    /// Whether the store has no room.
    var isRefusal: Bool { if case .failure(let error) = self { error.code == .storeFull } else { false } }
}

extension StoredMessage {
    fileprivate init(_ message: ReceivedMessage, _ id: ID, at time: StoreTime, for lifetime: Duration?) {
        self.init(
            id: id, topic: message.topic, payload: message.withPayload { [UInt8]($0) }, qos: message.qos,
            isRetained: message.isRetained, properties: message.properties, storedAt: time.date,
            expiresAt: lifetime.map { time.date.addingTimeInterval($0 / .seconds(1)) }, bootTime: time.bootTime)
    }
}
