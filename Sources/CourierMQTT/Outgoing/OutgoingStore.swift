import CourierCore
import CourierTransport
import Foundation
import MQTTCodec
import MQTTEngine

/// Connects the outgoing queue with the message store. Commits new messages in batches, stores the progress of
/// deliveries, and removes the rows of messages that ended.
///
/// ```
/// storing ──commit──▶ ready, or onDisk while memory is full ──read──▶ ready
/// ```
///
/// `@unchecked Sendable` is safe, because all variables are used on the event loop only. The functions that other types
/// call check that they run on the event loop.
final class OutgoingStore: @unchecked Sendable {
    /// The time before the store is read again after a failed read, 1 s.
    static let retryInterval = Duration.seconds(1)
    /// The maximum time that the next commit waits for more messages, 1 ms. In this time, callers whose message was
    /// just stored may publish their next message.
    static let gatheringTime = Duration.milliseconds(1)

    /// The parts and functions of the client that `OutgoingStore` needs.
    struct Dependencies {
        let queue: OutgoingQueue
        let results: () -> PublishResults?
        /// Checks the topics and properties of messages that an earlier process stored.
        let texts: WireText
        /// The clock for the ages of stored messages.
        let clock: StoreClock
        /// Begins the suspicion of a message that has strikes. A strike is a connection of an earlier process that the
        /// broker closed right after this message.
        let suspect: (Token, _ strikes: Int) -> Void
        /// Makes the session driver check the queue.
        let wakeSession: () -> Void
        /// Sets the timer that ends expired messages.
        let watchExpiry: () -> Void
        /// Reports that the store cannot be read.
        let failed: (CourierError) -> Void
        /// Reports a stored message that the client must not send.
        let rejected: (StoredMessage, CourierError) -> Void
    }

    let store: any MessageStore
    let loop: EventLoop
    let steps: StoreCommitQueue
    let parts: Dependencies
    var queue: OutgoingQueue { parts.queue }

    // MARK: State, used only on the event loop

    /// The client id and the broker that the rows belong to; `nil` while no session is open.
    var scope: StoreScope?
    /// The highest row id that was used in the scope so far.
    private var lastID: UInt64 = 0
    /// The id of the last row that an earlier process wrote.
    var lastEarlierID: UInt64 = 0
    /// The id of the last row that was read from the rows of an earlier process; `nil` before the first read.
    var lastRead: StoredMessage.ID?
    /// The ids of restored rows: rows of an earlier process that became entries when the session began. They are
    /// skipped when pages of rows are read later.
    var restored: Set<StoredMessage.ID> = []
    /// The number of times that the broker has lost the session.
    private var lostSessionCount = 0
    private var isCommitting = false
    /// The timer that ends the wait for more messages after ``gatheringTime``.
    private var gatheringTimer: TimerToken?
    var reading: Task<Void, Never>?
    var retryTimer: TimerToken?
    private var isFinished = false

    /// Creates an instance without a session. The instance stores nothing until ``begin(_:_:)`` is called.
    init(_ store: any MessageStore, steps: StoreCommitQueue, on loop: EventLoop, _ parts: Dependencies) {
        self.store = store
        self.steps = steps
        self.loop = loop
        self.parts = parts
    }

    /// Returns the id for the next row.
    func nextID() -> StoredMessage.ID {
        lastID += 1
        return StoredMessage.ID(rawValue: lastID)
    }

    // MARK: Begin and end of the session

    /// Begins a session with the rows of an earlier process.
    ///
    /// - Returns: The messages whose delivery the session driver continues.
    func begin(_ session: StoredSession, _ scope: StoreScope) -> [ClientEngine.UnfinishedMessage] {
        loop.preconditionOnLoop()
        self.scope = scope
        lastEarlierID = session.lastID
        lastID = max(lastID, session.lastID)
        lastRead = nil
        let unfinished =
            session.unfinished.compactMap { restore($0) }
            + session.reservedIDs.compactMap { PacketID(rawValue: $0) }.map { .givenUp($0) }
        queue.beginReading(unreadCount: session.unreadCount)
        for id in session.requeued { steps.add(.progress(id, .queued)) }
        commitNext()
        readNext()
        return unfinished
    }

    private func restore(_ stored: StoredOutgoing) -> ClientEngine.UnfinishedMessage? {
        let message = stored.message
        guard let id = stored.progress.packetID.flatMap({ PacketID(rawValue: $0) }) else { return nil }
        restored.insert(message.id)
        parts.results()?.began(message.topic, message.qos, message.payload.count)
        // Check the texts only if PUBLISH must be sent. Otherwise, only PUBREL is sent, which contains no text.
        if case .sent = stored.progress, let error = refusal(of: message) {
            reject(message, error)
            return nil
        }
        let row = loadedRow(message)
        let token = queue.restore(row, packetID: id)
        if case .received = stored.progress { return .received(token, id) }
        if stored.strikes > 0 { parts.suspect(token, stored.strikes) }
        return .sent(
            OutgoingMessage(
                topic: message.topic, payload: message.payload, qos: PacketQoS(message.qos),
                isRetained: message.isRetained, properties: queue.packetProperties(message.properties),
                expiry: row.expiry,
                token: token), id)
    }

    /// Forgets the rows of a session after `destroy()`. Messages that are accepted later wait for ``begin(_:_:)``.
    func endSession() {
        loop.preconditionOnLoop()
        scope = nil
        // Read the rows from the beginning again, because the next session may use another scope (client id and
        // broker), whose rows may have ids below `lastRead`.
        lastRead = nil
        restored = []
        stopReading()
        parts.watchExpiry()  // Messages of the next session may already wait, and each may expire.
    }

    /// Stops all work, because the client has ended. Rows stay in the store for the next process.
    func finish() {
        loop.preconditionOnLoop()
        isFinished = true
        stopReading()
        cancelGatheringTimer()
    }

    // MARK: Committing

    /// Commits the messages that wait for the store. Does nothing during a commit, because the next commit begins when
    /// the running commit has ended.
    func commitNext() {
        loop.preconditionOnLoop()
        guard let scope, !isCommitting, !isFinished else { return }
        let now = loop.now
        let date = parts.clock.time(at: now).date
        let batch = queue.takeUncommitted { [self] row, qos, isLatestOnly in
            let waited: Double = row.acceptedAt.duration(to: MonotonicInstant(now)).bounded / .seconds(1)
            let acceptedAt = StoreTime(
                date: date.addingTimeInterval(-waited), bootTime: parts.clock.time(at: row.acceptedAt.instant).bootTime)
            return row.message(nextID(), qos, isLatestOnly: isLatestOnly, queue.policy, acceptedAt)
        }
        guard let batch else { return }
        cancelGatheringTimer()
        guard !batch.tokens.isEmpty else { return }
        isCommitting = true
        let along = steps.takeAlong()
        let changes = (along?.changes ?? []) + batch.messages.map { .enqueue($0) }
        store.commit(changes, in: scope) { [loop] result in
            loop.execute { [self] in committed(batch, along, in: scope, result) }
        }
    }

    private func committed(
        _ batch: OutgoingQueue.CommitBatch, _ along: StoreCommitQueue.Batch?, in scope: StoreScope,
        _ result: Result<Void, CourierError>
    ) {
        if let along { steps.settled(along, result) }
        isCommitting = false
        switch result {
        case .success:
            // Callers whose messages were just stored may publish again at once. The next commit waits for these
            // messages, because a commit of many messages costs as much as a commit of one message.
            let isGathering = !isFinished && queue.gather(batch.acceptanceCount)
            if !isGathering { commitNext() }
            accept(batch.tokens)
            if isGathering { awaitCallers() }
            readNext()
        case .failure(let error) where batch.tokens.count == 1 && (along?.changes.isEmpty ?? true):
            refuse(batch.tokens[0], error)
            commitNext()
        case .failure:
            // Commit each message alone now, because a single message may have caused the failure, or another change in
            // the same commit.
            isCommitting = true
            commitEach(batch, 0, in: scope)
        }
    }

    private func commitEach(_ batch: OutgoingQueue.CommitBatch, _ index: Int, in scope: StoreScope) {
        guard index < batch.tokens.count, batch.epoch == queue.epoch else {
            isCommitting = false
            return commitNext()
        }
        // Skip a message that has ended in the meantime, because it must not get a row.
        guard queue.contains(batch.tokens[index]) else { return commitEach(batch, index + 1, in: scope) }
        store.commit([.enqueue(batch.messages[index])], in: scope) { [loop] result in
            loop.execute { [self] in
                switch result {
                case .success: accept([batch.tokens[index]])
                case .failure(let error): refuse(batch.tokens[index], error)
                }
                commitEach(batch, index + 1, in: scope)
            }
        }
    }

    private func accept(_ tokens: [Token]) {
        let (tasks, wakesSession) = queue.stored(tokens)
        // Wake the session driver first, because a resumed task may publish at once, and its new message must not
        // overtake a stored message.
        if wakesSession { parts.wakeSession() }
        for (task, token) in tasks { task.resume(returning: .stored(token)) }
    }

    private func refuse(_ token: Token, _ error: CourierError) {
        if let ended = queue.end(token, .failed(error)) { parts.results()?.report([ended]) }
        queue.passOnRoom()
    }

    // MARK: Waiting for more messages before a commit

    /// Lets callers whose messages were just stored add their next messages before the next commit.
    ///
    /// The task below runs after the tasks of these callers, because it is created after these tasks were resumed.
    private func awaitCallers() {
        Task { if queue.stopGathering() { loop.execute { [self] in commitNext() } } }
        limitGathering()
    }

    /// Ends the store's wait for more messages after ``gatheringTime``, and begins the next commit.
    func limitGathering() {
        cancelGatheringTimer()
        gatheringTimer = loop.schedule(at: loop.now.advanced(by: Self.gatheringTime)) { [self] in
            gatheringTimer = nil
            if queue.stopGathering() { commitNext() }
        }
    }

    private func cancelGatheringTimer() {
        if let gatheringTimer { loop.cancel(gatheringTimer) }
        gatheringTimer = nil
    }
}

// MARK: - Storing the progress of a delivery

extension OutgoingStore {
    /// Stores the packet id that the session driver gave a message. For QoS 2, `stored` is called when PUBLISH may be
    /// written. PUBLISH of QoS 1 does not wait for the store.
    func sent(_ token: Token, _ id: PacketID, stored: @escaping () -> Void) {
        loop.preconditionOnLoop()
        guard let row = queue.noteSent(token, id) else { return stored() }
        let progress = StoreChange.progress(row.id, .sent(packetID: id.rawValue))
        if row.qos == .two { addStep(progress, stored: stored) } else { steps.addRepeatable(progress) }
    }

    /// Stores that the broker received a QoS 2 message. `stored` is called when PUBREL may be written.
    func receivedByServer(_ token: Token, stored: @escaping (PacketID) -> Void) {
        loop.preconditionOnLoop()
        guard let row = queue.sentRow(token) else { return }
        addStep(.progress(row.id, .received(packetID: row.packetID.rawValue))) { stored(row.packetID) }
    }

    /// Stores the progress of a delivery, and then calls `stored`.
    ///
    /// If the broker loses the session before the progress is stored, `stored` is not called, because the message may
    /// then be sent again with the same packet id. The progress of that new delivery is not stored yet.
    private func addStep(_ change: StoreChange, stored: @escaping () -> Void) {
        let count = lostSessionCount
        steps.add(change) { [self] in if lostSessionCount == count { stored() } }
    }

    /// Removes the row of a message that ended. If the message was sent, a power cut may undo the removal. In this
    /// case, the next process sends the message again. May be called from any thread.
    func ended(_ row: EndedRow) {
        guard loop.isOnLoop else { return loop.execute { [self] in ended(row) } }
        if row.wasSent {
            steps.addRepeatable(.removeOutgoing(row.id))
        } else {
            steps.add(.removeOutgoing(row.id))
        }
    }

    /// Removes the row of a withdrawn message, and calls `removed` with the result.
    func remove(_ row: EndedRow, removed: @escaping (Result<Void, CourierError>) -> Void) {
        loop.preconditionOnLoop()
        steps.add([.removeOutgoing(row.id)], settled: removed)
    }

    /// Stores the number of strikes of a message, which are connections that the broker closed right after the message.
    /// The number is 0 if earlier strikes do not count any more.
    func strike(_ token: Token, _ count: Int) {
        loop.preconditionOnLoop()
        guard let row = queue.row(of: token) else { return }
        steps.add(.strike(row, count: count))
    }

    /// Marks the row of a message as rejected, because the broker closed the connection each time the message was
    /// sent. The store keeps the row.
    func reject(_ row: StoredMessage.ID, _ error: CourierError) {
        loop.preconditionOnLoop()
        steps.add(.reject(row, reason: error.message, at: parts.clock.time(at: loop.now).date))
    }

    /// Removes the row of a QoS 2 message that the client gave up, although the broker may have received it. `stored`
    /// is called when the packet id may be used again.
    func gaveUp(_ token: Token, stored: @escaping () -> Void) {
        loop.preconditionOnLoop()
        guard let row = queue.sentRow(token) else { return stored() }
        addStep(.removeOutgoing(row.id), stored: stored)
    }

    /// Removes all packet ids from the entries and the store, because the broker lost the session. The ids are not
    /// valid any more.
    func sessionLost() {
        loop.preconditionOnLoop()
        lostSessionCount += 1
        for id in queue.rowsWithPacketID(isForgotten: true) { steps.add(.progress(id, .queued)) }
    }

    /// Removes all packet ids from the store, because they are not valid for the next process. This process still uses
    /// them to continue its deliveries.
    func forgetStoredPacketIDs() {
        loop.preconditionOnLoop()
        for id in queue.rowsWithPacketID(isForgotten: false) { steps.add(.progress(id, .queued)) }
    }
}

extension OutgoingRow {
    /// Returns the row for the message store.
    fileprivate func message(
        _ id: StoredMessage.ID, _ qos: QoS, isLatestOnly: Bool, _ policy: OfflinePolicy, _ time: StoreTime
    ) -> StoredMessage {
        let own = properties.messageExpiry
        let age = policy.maximumAge.map { age in own.map { min(age, $0) } ?? age } ?? own
        return StoredMessage(
            id: id, topic: topic, payload: payload, qos: qos, isRetained: isRetained,
            properties: properties, storedAt: time.date,
            expiresAt: age.map { time.date.addingTimeInterval($0.bounded / .seconds(1)) }, bootTime: time.bootTime,
            isLatestOnly: isLatestOnly)
    }
}
