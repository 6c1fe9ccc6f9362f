import CourierCore
import CourierTransport
import Foundation
import MQTTCodec
import MQTTEngine

/// The way of messages that are to survive the process: into the store first, then to the gate, and out of the store when
/// they have ended.
///
/// ```
/// publish ──▶ arrivals ──commit──▶ store ──▶ gate ──▶ session ──end──▶ removed
///                                    └──the gate is full──▶ on disk only ──page by page──▶ gate
/// ```
///
/// Memory holds no more than the gate does: what does not fit there is read again when its turn comes.
///
/// Safe to share: `arrivals` may be touched from any thread; everything else is touched on the loop only.
final class DurableOutbox: @unchecked Sendable {
    /// A message that gate or session have.
    private struct Live {
        let id: StoredMessage.ID
        let qos: QoS
        var packetID: PacketID?
    }

    /// Messages of one commit. It crosses the store's thread, which does not touch it.
    private struct Batch: Sendable {
        let arrivals: [Arrival]
        let messages: [StoredMessage]
        let scope: StoreScope
        /// Of which session they are: the next one may have the same scope.
        let session: Int
        /// What goes along with them.
        let steps: StoreLane.Batch?

        /// Whether nothing but its one message can be why it was not taken.
        var isOneMessage: Bool { arrivals.count == 1 && (steps?.changes.isEmpty ?? true) }
    }

    /// How long a store that could not be read is left alone, 1 s.
    static let retryInterval = Duration.seconds(1)

    private let store: any MessageStore
    private let loop: EventLoop
    private let policy: OfflinePolicy
    private let arrivals: OutboxArrivals
    private let steps: StoreLane
    private let gate: PublishGate
    private let ledger: PublishLedger
    private let ends: PublishEnds
    private let failed: (CourierError) -> Void

    // MARK: On the loop only

    private var scope: StoreScope?
    /// Whether the next process goes on with what this one has sent: it may have the same session with the broker.
    var storesPacketIDs = true
    /// How many sessions were given up and have ended.
    private var session = 0
    private var lastID: UInt64 = 0
    /// The last row that another process wrote, and the last of those whose way on was told.
    private var lastOfEarlierProcess: UInt64 = 0
    private var lastTold: StoredMessage.ID?
    private var live: [Token: Live] = [:]
    /// Whether there are rows that neither gate nor session have.
    private var isSpilled = false
    /// The last row that was handed to gate or session.
    private var lastHandedOver: StoredMessage.ID?
    private var lastStored: StoredMessage.ID?
    /// The rows that the session goes on with and that stand behind one that was never sent.
    private var restoredBehind: Set<StoredMessage.ID> = []
    /// Who waits for a message that is on disk only.
    private var recipients: [StoredMessage.ID: PublishLedger.Recipient] = [:]
    /// The messages on disk only that a newer one to their topic replaces.
    private var latest: [String: StoredMessage.ID] = [:]
    private var replacedWhileReading: Set<StoredMessage.ID> = []
    private var isCommitting = false
    private var reading: Task<Void, Never>?
    private var retryTimer: TimerToken?
    /// Why the client has ended.
    private var end: CourierError?

    /// Makes an outbox that is closed until ``begin(_:_:)``. `failed` is told when the store can not be read.
    init(
        _ store: any MessageStore, _ policy: OfflinePolicy, steps: StoreLane, gate: PublishGate, ledger: PublishLedger,
        ends: PublishEnds, on loop: EventLoop, failed: @escaping (CourierError) -> Void
    ) {
        self.store = store
        self.policy = policy
        arrivals = OutboxArrivals(policy)
        self.steps = steps
        self.gate = gate
        self.ledger = ledger
        self.ends = ends
        self.loop = loop
        self.failed = failed
    }
}

// MARK: - From any thread

extension DurableOutbox {
    /// Takes a message on its way; `false` when too much waits for the store.
    func add(_ arrival: Arrival) throws(CourierError) -> Bool {
        let verdict = try arrivals.add(arrival)
        if verdict == .full { return false }
        ends.began(arrival.shape.topic, arrival.shape.qos, arrival.payload.count)
        if verdict == .takenFirst { loop.execute { [self] in storeArrivals() } }
        return true
    }

    /// A waiter that is resumed when there is room on the way into the store; at once if there is.
    func roomWaiter(_ census: WaiterCensus) -> Waiter<Void> { arrivals.roomWaiter(census) }

    /// The session is given up: what is not on its way into the store yet ends, and what comes from now on is the next
    /// session's. ``removeAll(_:)`` follows for each.
    func giveUp(_ error: CourierError) { refuse(arrivals.giveUpSession(), error) }

    /// Forgets a waiter that waits no more.
    func forget(_ waiter: Waiter<Void>) { arrivals.forget(waiter) }

    private func refuse(_ taken: OutboxArrivals.Taken, _ error: CourierError) {
        for arrival in taken.list { refused(arrival, error) }
        for waiter in taken.roomWaiters { waiter.resume(.failure(error)) }
    }
}

// MARK: - Into the store

extension DurableOutbox {
    private func storeArrivals() {
        guard let scope, !isCommitting else { return }  // It is looked at again then.
        let taken = arrivals.take(ofSession: session)
        for waiter in taken.roomWaiters { waiter.resume(.success(())) }
        if !taken.list.isEmpty { commit(taken.list, scope) }
    }

    private func commit(_ list: [Arrival], _ scope: StoreScope) {
        isCommitting = true
        let date = Date()
        let messages = list.map { arrival in
            arrival.message(nextID(), date: date, maximumAge: policy.maximumAge)
        }
        let batch = Batch(
            arrivals: list, messages: messages, scope: scope, session: session, steps: steps.takeAlong())
        let changes = (batch.steps?.changes ?? []) + messages.map { .enqueue($0) }
        store.commit(changes, in: scope) { [loop] result in
            loop.execute { [self] in committed(batch, result) }
        }
    }

    private func committed(_ batch: Batch, _ result: Result<Void, CourierError>) {
        if let along = batch.steps { steps.settled(along, result) }
        guard batch.session == session else { return refuseRest(of: batch, from: 0) }
        switch result {
        case .success:
            isCommitting = false
            storeArrivals()  // First, so that the store has something to do meanwhile.
            for (arrival, message) in zip(batch.arrivals, batch.messages) { accepted(arrival, message) }
            return readMore()
        case .failure(let error) where batch.isOneMessage:
            for arrival in batch.arrivals { refused(arrival, error) }
        case .failure:
            // One of them may be the reason, or what went along: each for itself, the rest after it.
            return commitEach(batch, 0)
        }
        isCommitting = false
        storeArrivals()
    }

    private func commitEach(_ batch: Batch, _ index: Int) {
        guard batch.session == session else { return refuseRest(of: batch, from: index) }
        guard index < batch.arrivals.count else {
            isCommitting = false
            storeArrivals()
            return readMore()
        }
        let (arrival, message) = (batch.arrivals[index], batch.messages[index])
        store.commit([.enqueue(message)], in: batch.scope) { [loop] result in
            loop.execute { [self] in
                guard batch.session == session else { return refuseRest(of: batch, from: index) }
                switch result {
                case .success: accepted(arrival, message)
                case .failure(let error): refused(arrival, error)
                }
                commitEach(batch, index + 1)
            }
        }
    }

    /// The session of a batch was destroyed while it was on its way: rows that it has got are gone, and no more come.
    private func refuseRest(of batch: Batch, from index: Int) {
        for arrival in batch.arrivals[index...] { refused(arrival, Self.destroyed) }
        isCommitting = false
        storeArrivals()
    }

    private func refused(_ arrival: Arrival, _ error: CourierError) {
        arrival.acceptance?.resume(.failure(error))
        ends.end(enter(arrival), with: .abandoned(error))
    }

    private func accepted(_ arrival: Arrival, _ message: StoredMessage) {
        arrival.acceptance?.resume(.success(()))
        if let end { return ends.end(enter(arrival), with: .abandoned(end)) }
        lastStored = message.id
        if !isSpilled {
            if handOver(message, enter(arrival), isLatestOnly: arrival.shape.isLatestOnly) { return }
            isSpilled = true
        }
        if arrival.shape.isLatestOnly, let older = latest.updateValue(message.id, forKey: message.topic) {
            replace(older, message.topic, message.qos)
        }
        // The acknowledgement may come in another process: there, nobody waits for it.
        if case .nobody = arrival.recipient { return }
        recipients[message.id] = arrival.recipient
    }

    private func replace(_ id: StoredMessage.ID, _ topic: String, _ qos: QoS) {
        steps.add(.removeOutgoing(id))
        if reading != nil { replacedWhileReading.insert(id) }
        guard let recipient = recipients.removeValue(forKey: id) else { return }
        let entry = PublishLedger.Entry(recipient: recipient, topic: topic, qos: qos, payload: nil)
        ends.end(ledger.enter(entry), with: .queue(.messageReplaced))
    }

    private func enter(_ arrival: Arrival) -> Token {
        ledger.enter(
            PublishLedger.Entry(
                recipient: arrival.recipient, topic: arrival.shape.topic, qos: arrival.shape.qos,
                payload: ends.isListenedTo ? arrival.payload : nil))
    }

    /// Hands a stored message to the gate; `false`, and its token is forgotten, when that does not take it.
    private func handOver(_ message: StoredMessage, _ token: Token, isLatestOnly: Bool = false) -> Bool {
        live[token] = Live(id: message.id, qos: message.qos)
        let outgoing = message.outgoing(token, now: loop.now, date: Date())
        // What the store has belongs to the present session, which another thread may just have given up.
        switch gate.submit(outgoing, isLatestOnly: isLatestOnly, overflow: .fail, isStored: true) {
        case .delivered, .queued:
            lastHandedOver = message.id
            return true
        case .full, .givenUp, .offline:
            live[token] = nil
            _ = ledger.take(token)
            return false
        }
    }

    static let destroyed = CourierError(
        .clientDestroyed, "The client was destroyed before the message was stored.")

    private static let missing = CourierError(
        .storeDamaged, "The message was stored, and was not in the message store when its turn came.")
}

// MARK: - Out of the store

extension DurableOutbox {
    /// Reads the next messages that are on disk only, if the gate has room for them.
    func readMore() {
        loop.preconditionOnLoop()
        guard isSpilled, reading == nil, retryTimer == nil, let scope, gate.hasRoom else { return }
        let (store, last, loop, session, lastStored) = (store, lastHandedOver, loop, session, lastStored)
        reading = Task { [weak self] in
            let page: Result<[StoredOutgoing], any Error>
            do {
                page = .success(try await store.outgoing(in: scope, after: last, limit: StoredSession.pageSize))
            } catch {
                page = .failure(error)
            }
            loop.execute { [self] in self?.read(page, of: session, after: lastStored) }
        }
    }

    /// A page was read after the row `lastStored` had been stored.
    private func read(
        _ page: Result<[StoredOutgoing], any Error>, of session: Int, after lastStored: StoredMessage.ID?
    ) {
        guard reading != nil, session == self.session else { return }  // Given up meanwhile.
        reading = nil
        let replaced = replacedWhileReading
        replacedWhileReading = []
        switch page {
        case .success(let rows):
            for row in rows where !replaced.contains(row.message.id) {
                // It is in the store already, and the store has not said so yet: it is accepted first.
                if row.message.id.rawValue > max(self.lastStored?.rawValue ?? 0, lastOfEarlierProcess) { return }
                // What was sent goes on with its packet id, now or in the next process: anew, it would come twice.
                if row.progress != .queued || restoredBehind.contains(row.message.id) {
                    lastHandedOver = row.message.id
                    continue
                }
                guard submit(row.message) else { return }
            }
            // What was stored since the page was read stands behind it.
            isSpilled = rows.count == StoredSession.pageSize || self.lastStored != lastStored
            if !isSpilled { endWaiting(Self.missing) }
            readMore()
        case .failure(let error):
            failed(.reading(error))
            retryTimer = loop.schedule(at: loop.now.advanced(by: Self.retryInterval)) { [weak self] in
                self?.retryTimer = nil
                self?.readMore()
            }
        }
    }

    private func submit(_ message: StoredMessage) -> Bool {
        if message.id.rawValue <= lastOfEarlierProcess, message.id > lastTold ?? .zero {
            ends.began(message.topic, message.qos, message.payload.count)
            lastTold = message.id
        }
        let recipient = recipients[message.id] ?? .nobody
        let entry = PublishLedger.Entry(
            recipient: recipient, topic: message.topic, qos: message.qos,
            payload: ends.isListenedTo ? message.payload : nil)
        guard handOver(message, ledger.enter(entry)) else { return false }
        recipients[message.id] = nil
        if latest[message.topic] == message.id { latest[message.topic] = nil }
        return true
    }
}

// MARK: - The session

extension DurableOutbox {
    /// Takes over what an earlier process left, and opens.
    ///
    /// - Returns: What the session is to go on with.
    func begin(_ session: StoredSession, _ scope: StoreScope) -> [ClientEngine.UnfinishedMessage] {
        loop.preconditionOnLoop()
        self.scope = scope
        lastOfEarlierProcess = session.lastID
        lastID = max(lastID, session.lastID)
        let (now, date) = (loop.now, Date())
        let firstQueued = session.queued.first?.message.id
        let unfinished = session.unfinished.compactMap { row -> ClientEngine.UnfinishedMessage? in
            guard let id = row.progress.packetID.flatMap({ PacketID(rawValue: $0) }) else { return nil }
            let entry = PublishLedger.Entry(
                recipient: .nobody, topic: row.message.topic, qos: row.message.qos,
                payload: ends.isListenedTo ? row.message.payload : nil)
            let token = ledger.enter(entry)
            live[token] = Live(id: row.message.id, qos: row.message.qos, packetID: id)
            if let firstQueued, row.message.id > firstQueued {
                restoredBehind.insert(row.message.id)
            } else {
                lastHandedOver = row.message.id
            }
            ends.began(row.message.topic, row.message.qos, row.message.payload.count)
            if case .received = row.progress { return .received(token, id) }
            return .sent(row.message.outgoing(token, now: now, date: date), id)
        }
        isSpilled = session.hasMore
        for row in session.queued where row.progress != .queued { steps.add(.progress(row.message.id, .queued)) }
        for row in session.queued {
            guard submit(row.message) else {
                isSpilled = true
                break
            }
        }
        storeArrivals()
        return unfinished
    }

    /// The next id of a row.
    func nextID() -> StoredMessage.ID {
        lastID += 1
        return StoredMessage.ID(rawValue: lastID)
    }

    /// A message was given a packet id.
    func sent(_ token: Token, _ id: PacketID, stored: @escaping () -> Void) {
        loop.preconditionOnLoop()
        guard let message = live[token] else { return stored() }
        live[token]?.packetID = id
        guard storesPacketIDs else { return stored() }
        let progress = StoreChange.progress(message.id, .sent(packetID: id.rawValue))
        if message.qos == .two { steps.add(progress, stored: stored) } else { steps.addRepeatable(progress) }
    }

    /// The broker has a message of QoS 2.
    func receivedByServer(_ token: Token, stored: @escaping (PacketID) -> Void) {
        loop.preconditionOnLoop()
        guard let message = live[token], let id = message.packetID else { return }
        guard storesPacketIDs else { return stored(id) }
        steps.add(.progress(message.id, .received(packetID: id.rawValue))) { stored(id) }
    }

    /// A message has ended, whichever way; from any thread.
    func ended(_ token: Token) {
        guard loop.isOnLoop else { return loop.execute { [self] in ended(token) } }
        guard let message = live.removeValue(forKey: token) else { return }
        if message.packetID != nil, storesPacketIDs {
            steps.addRepeatable(.removeOutgoing(message.id))
        } else {
            // It was never sent, or is to be sent anew: a power cut that forgot its end would not repeat it, but send it.
            steps.add(.removeOutgoing(message.id))
        }
    }

    /// The broker has lost the session: packet ids mean nothing any more.
    func sessionLost() {
        loop.preconditionOnLoop()
        for (token, message) in live where message.packetID != nil {
            live[token]?.packetID = nil
            steps.add(.progress(message.id, .queued))
        }
    }

    /// What is under way goes on in this process only: the packet ids mean nothing to the next one.
    func forgetStoredPacketIDs() {
        loop.preconditionOnLoop()
        for message in live.values where message.packetID != nil { steps.add(.progress(message.id, .queued)) }
    }

    /// The session is given up: nothing of it goes on. What comes from now on waits for ``begin(_:_:)``.
    func removeAll(_ error: CourierError) {
        loop.preconditionOnLoop()
        scope = nil
        session += 1
        for token in live.keys { ends.end(token, with: .abandoned(error)) }
        live = [:]
        isSpilled = false
        // The ids of another scope may be lower.
        (lastHandedOver, lastStored, lastTold) = (nil, nil, nil)
        restoredBehind = []
        latest = [:]
        stopReading()
        endWaiting(error)
    }

    /// The client has ended; what is stored stays.
    func finish(_ error: CourierError) {
        loop.preconditionOnLoop()
        end = error
        stopReading()
        endWaiting(error)
        refuse(arrivals.finish(error), error)
    }

    private func stopReading() {
        reading?.cancel()
        reading = nil
        replacedWhileReading = []
        if let retryTimer { loop.cancel(retryTimer) }
        retryTimer = nil
    }

    private func endWaiting(_ error: CourierError) {
        let waiting = recipients
        recipients = [:]
        for (_, recipient) in waiting {
            let entry = PublishLedger.Entry(recipient: recipient, topic: "", qos: .one, payload: nil)
            ends.end(ledger.enter(entry), with: .abandoned(error))
        }
    }
}

extension DurableOutbox.Arrival {
    fileprivate func message(_ id: StoredMessage.ID, date: Date, maximumAge: Duration?) -> StoredMessage {
        var properties = shape.properties
        if properties.contentType == nil { properties.contentType = shape.contentType }
        let age = [shape.properties.messageExpiry, maximumAge].compactMap { $0 }.min()
        return StoredMessage(
            id: id, topic: shape.topic, payload: payload, qos: shape.qos, isRetained: shape.isRetained,
            properties: properties, storedAt: date,
            expiresAt: age.map { date.addingTimeInterval($0.bounded / .seconds(1)) })
    }
}

extension StoredMessage.ID {
    fileprivate static let zero = StoredMessage.ID(rawValue: 0)
}

extension CourierError {
    /// What a store said that could not be read.
    static func reading(_ error: any Error) -> CourierError {
        (error as? CourierError)
            ?? CourierError(.storeFailed, "The message store could not be read; it is tried again.", cause: error)
    }
}
