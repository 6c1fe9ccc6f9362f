import CourierCore
import CourierTransport
import Foundation
import MQTTCodec
import MQTTEngine

/// The message store's side of the outgoing queue: commits new messages in batches, notes how far deliveries have come, and
/// removes the rows of messages that ended.
///
/// ```
/// storing ──commit──▶ ready, or onDisk while memory is full ──read──▶ ready
/// ```
///
/// Safe to share: all properties are touched on the loop only, which each entry checks.
final class OutgoingStore: @unchecked Sendable {
    /// How long a store that cannot be read is left alone, 1 s.
    static let retryInterval = Duration.seconds(1)
    /// How long a commit waits at most for the next messages of callers that just learned of the last commit, 1 ms.
    static let gatheringTime = Duration.milliseconds(1)

    /// The functions of the client that the store needs.
    struct Dependencies {
        let queue: OutgoingQueue
        let results: () -> PublishResults?
        /// The packets of messages that an earlier process stored.
        let texts: WireText
        /// The clock for the ages of stored messages.
        let clock: StoreClock
        /// Continues with the strikes that a message of an earlier process has.
        let suspect: (Token, _ strikes: Int) -> Void
        /// Has the session look at the queue.
        let wakeSession: () -> Void
        /// Ends expired messages at the given time, or a little later.
        let watchExpiry: () -> Void
        /// Reports that the store cannot be read.
        let failed: (CourierError) -> Void
        /// Reports a stored message that the client does not send.
        let rejected: (StoredMessage, CourierError) -> Void
    }

    let store: any MessageStore
    let loop: EventLoop
    let steps: StoreCommitQueue
    let parts: Dependencies
    var queue: OutgoingQueue { parts.queue }

    // MARK: On the loop only

    /// Whose rows they are; `nil` while no session is open.
    var scope: StoreScope?
    /// The id of the last row.
    private var lastID: UInt64 = 0
    /// The last row that an earlier process wrote.
    var lastEarlierID: UInt64 = 0
    /// The last row of an earlier process that was read.
    var lastRead: StoredMessage.ID?
    /// Rows of an earlier process that became entries at the start, before the pages were read.
    var restored: Set<StoredMessage.ID> = []
    /// How many sessions the broker has lost.
    private var lostSessionCount = 0
    private var isCommitting = false
    /// Ends ``gatheringTime``.
    private var gatheringTimer: TimerToken?
    var reading: Task<Void, Never>?
    var retryTimer: TimerToken?
    private var isFinished = false

    /// Makes a store part that is closed until ``begin(_:_:)``.
    init(_ store: any MessageStore, steps: StoreCommitQueue, on loop: EventLoop, _ parts: Dependencies) {
        self.store = store
        self.steps = steps
        self.loop = loop
        self.parts = parts
    }

    /// The next id of a row.
    func nextID() -> StoredMessage.ID {
        lastID += 1
        return StoredMessage.ID(rawValue: lastID)
    }

    // MARK: The session

    /// Opens with the rows of an earlier process.
    ///
    /// - Returns: The messages that the session continues.
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
        // A message that the broker has needs only PUBREL, which carries no text.
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

    /// The session was destroyed. Messages that are accepted from now on wait for ``begin(_:_:)``.
    func endSession() {
        loop.preconditionOnLoop()
        scope = nil
        // The ids of another scope may be lower.
        lastRead = nil
        restored = []
        stopReading()
        parts.watchExpiry()  // Messages of the next session may wait already.
    }

    /// The client has ended. Rows stay for the next process.
    func finish() {
        loop.preconditionOnLoop()
        isFinished = true
        stopReading()
        cancelGatheringTimer()
    }

    // MARK: Committing

    /// Commits the messages that wait for the store, unless a commit runs. That commit is followed by the next.
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
            // A commit with the next messages of all callers costs as much as a commit with the first of them.
            let isGathering = !isFinished && queue.gather(batch.acceptanceCount)
            if !isGathering { commitNext() }
            accept(batch.tokens)
            if isGathering { awaitCallers() }
            readNext()
        case .failure(let error) where batch.tokens.count == 1 && (along?.changes.isEmpty ?? true):
            refuse(batch.tokens[0], error)
            commitNext()
        case .failure:
            // One message or one step may be the reason. Each message is committed alone.
            isCommitting = true
            commitEach(batch, 0, in: scope)
        }
    }

    private func commitEach(_ batch: OutgoingQueue.CommitBatch, _ index: Int, in scope: StoreScope) {
        guard index < batch.tokens.count, batch.epoch == queue.epoch else {
            isCommitting = false
            return commitNext()
        }
        // A message that has ended meanwhile must not get a row.
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
        // First, so that no later message overtakes a stored one.
        if wakesSession { parts.wakeSession() }
        for (task, token) in tasks { task.resume(returning: .stored(token)) }
    }

    private func refuse(_ token: Token, _ error: CourierError) {
        if let ended = queue.end(token, .failed(error)) { parts.results()?.report([ended]) }
        queue.passOnRoom()
    }

    // MARK: Gathering

    /// Commits when the callers that just learned of a commit have had their turn: a task made now runs behind theirs.
    private func awaitCallers() {
        Task { if queue.stopGathering() { loop.execute { [self] in commitNext() } } }
        limitGathering()
    }

    /// Commits after ``gatheringTime`` at the latest.
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

// MARK: - Steps of a delivery

extension OutgoingStore {
    /// The session gave a message a packet id; `stored` is called when PUBLISH may be written.
    func sent(_ token: Token, _ id: PacketID, stored: @escaping () -> Void) {
        loop.preconditionOnLoop()
        guard let row = queue.noteSent(token, id) else { return stored() }
        let progress = StoreChange.progress(row.id, .sent(packetID: id.rawValue))
        if row.qos == .two { addStep(progress, stored: stored) } else { steps.addRepeatable(progress) }
    }

    /// The broker has a message of QoS 2; `stored` is called when PUBREL may be written.
    func receivedByServer(_ token: Token, stored: @escaping (PacketID) -> Void) {
        loop.preconditionOnLoop()
        guard let row = queue.sentRow(token) else { return }
        addStep(.progress(row.id, .received(packetID: row.packetID.rawValue))) { stored(row.packetID) }
    }

    /// Stores how far a delivery has come. `stored` is not called if the broker loses the session first: the same message
    /// may then have the same packet id again, whose own step is not stored yet.
    private func addStep(_ change: StoreChange, stored: @escaping () -> Void) {
        let count = lostSessionCount
        steps.add(change) { [self] in if lostSessionCount == count { stored() } }
    }

    /// A message ended; from any thread. A power cut may forget the removal of a message that was sent: it is repeated then.
    func ended(_ row: EndedRow) {
        guard loop.isOnLoop else { return loop.execute { [self] in ended(row) } }
        if row.wasSent {
            steps.addRepeatable(.removeOutgoing(row.id))
        } else {
            steps.add(.removeOutgoing(row.id))
        }
    }

    /// A message was withdrawn; `removed` is called when its row is removed, or cannot be.
    func remove(_ row: EndedRow, removed: @escaping (Result<Void, CourierError>) -> Void) {
        loop.preconditionOnLoop()
        steps.add([.removeOutgoing(row.id)], settled: removed)
    }

    /// The message has this many strikes, 0 if its earlier ones do not count any more.
    func strike(_ token: Token, _ count: Int) {
        loop.preconditionOnLoop()
        guard let row = queue.row(of: token) else { return }
        steps.add(.strike(row, count: count))
    }

    /// The message ended connections: the store keeps it as rejected.
    func reject(_ row: StoredMessage.ID, _ error: CourierError) {
        loop.preconditionOnLoop()
        steps.add(.reject(row, reason: error.message, at: parts.clock.time(at: loop.now).date))
    }

    /// A message of QoS 2 that the broker may have was given up; `stored` is called when its packet id may be freed.
    func gaveUp(_ token: Token, stored: @escaping () -> Void) {
        loop.preconditionOnLoop()
        guard let row = queue.sentRow(token) else { return stored() }
        addStep(.removeOutgoing(row.id), stored: stored)
    }

    /// The broker lost the session: packet ids mean nothing any more.
    func sessionLost() {
        loop.preconditionOnLoop()
        lostSessionCount += 1
        for id in queue.rowsWithPacketID(isForgotten: true) { steps.add(.progress(id, .queued)) }
    }

    /// Deliveries continue in this process only: packet ids mean nothing to the next one.
    func forgetStoredPacketIDs() {
        loop.preconditionOnLoop()
        for id in queue.rowsWithPacketID(isForgotten: false) { steps.add(.progress(id, .queued)) }
    }
}

extension OutgoingRow {
    /// The row for the message store.
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
