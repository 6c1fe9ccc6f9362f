import CourierCore
import CourierTransport
import Foundation
import MQTTEngine

/// Into the store, and from there to the gate.
extension DurableOutbox {
    func storeArrivals() {
        guard let scope, !isCommitting else { return watchArrivals() }  // It is looked at again then.
        guard let taken = arrivals.take(ofSession: session) else { return watchArrivals() }
        cancelGatheringTimer()
        for waiter in taken.roomWaiters { waiter.resume(.success(())) }
        if !taken.list.isEmpty { commit(taken.list, scope) }
    }

    /// Has what waits stored when those who were just told have had their turn: a task that is made now runs behind theirs.
    private func awaitCallers() {
        Task { if arrivals.stopGathering() { loop.execute { [self] in storeArrivals() } } }
        limitGathering()
    }

    func limitGathering() {
        cancelGatheringTimer()
        gatheringTimer = loop.schedule(at: loop.now.advanced(by: Self.gatheringTime)) { [self] in
            gatheringTimer = nil
            if arrivals.stopGathering() { storeArrivals() }
        }
    }

    func cancelGatheringTimer() {
        if let gatheringTimer { loop.cancel(gatheringTimer) }
        gatheringTimer = nil
    }

    /// Has ``endExpiredArrivals()`` called when the first that waits has waited too long.
    func watchArrivals() {
        if let end = arrivals.nextEnd { expires(end) }
    }

    /// Ends what has waited too long before it was on its way into the store.
    func endExpiredArrivals() {
        loop.preconditionOnLoop()
        let expired = arrivals.takeExpired(now: loop.now)
        for arrival in expired.list {
            refused(arrival, PublishEnds.queueError(.messageExpired, arrival.shape.topic))
        }
        for waiter in expired.roomWaiters { waiter.resume(.success(())) }
    }

    private func commit(_ list: [Arrival], _ scope: StoreScope) {
        isCommitting = true
        let (now, date) = (loop.now, Date())
        let messages = list.map { $0.message(nextID(), now: now, date: date, policy) }
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
            // Callers may each bring one more, and one commit of all costs what one of the first would.
            let isGathering = end == nil && arrivals.gather(after: batch.arrivals, ofSession: session)
            if !isGathering { storeArrivals() }  // First, so that the store has something to do meanwhile.
            for (arrival, message) in zip(batch.arrivals, batch.messages) { accepted(arrival, message) }
            if isGathering { awaitCallers() }
            return readMore()
        case .failure(let error) where batch.isOneMessage:
            for arrival in batch.arrivals { refused(arrival, error) }
            readMore()
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

    func refused(_ arrival: Arrival, _ error: CourierError) {
        arrival.acceptance?.resume(.failure(error))
        ends.end(enter(arrival), with: .abandoned(error))
    }

    private func accepted(_ arrival: Arrival, _ message: StoredMessage) {
        // Behind its way to the gate, so that nothing overtakes it that the caller sends next.
        defer { arrival.acceptance?.resume(.success(())) }
        if let end { return ends.end(enter(arrival), with: .abandoned(end)) }
        lastStored = message.id
        if !isSpilled {
            let token = enter(arrival)
            let stamp = arrival.shape.isLatestOnly ? arrival.stamp : nil
            if handOver(message, token, latestStamp: stamp) { return }
            isSpilled = true
            guard ledger.take(token) != nil else { return }  // It has ended with its session.
        }
        note(arrival.recipient, of: message.id)
        if arrival.shape.isLatestOnly { replaceOlder(than: message, arrival.stamp) }
    }

    /// The acknowledgement may come in another process: there, nobody waits for it.
    private func note(_ recipient: PublishLedger.Recipient, of id: StoredMessage.ID) {
        if case .nobody = recipient { return }
        recipients[id] = recipient
    }

    /// A message that is on disk only takes the place of an older one to its topic, wherever that waits; if a newer one
    /// waits in the gate, it ends itself.
    private func replaceOlder(than message: StoredMessage, _ stamp: UInt64) {
        let row = LatestOnDisk(
            id: message.id, qos: message.qos, stamp: stamp,
            byteCount: ends.isListenedTo ? message.payload.count : nil)
        guard gate.replaceLatest(to: message.topic, before: stamp) else { return replace(row, message.topic) }
        if let older = latest.updateValue(row, forKey: Array(message.topic.utf8)) { replace(older, message.topic) }
    }

    /// A message of a session that passed the store by takes the place of an older one to its topic that is on disk
    /// only. From any thread.
    func replaceOnDisk(to topic: String, before stamp: UInt64, of session: Int) {
        loop.execute { [self] in
            let key = Array(topic.utf8)
            guard end == nil, session == self.session, let older = latest[key], older.stamp < stamp else { return }
            latest[key] = nil
            replace(older, topic)
        }
    }

    private func replace(_ older: LatestOnDisk, _ topic: String) {
        let id = older.id
        replaced.insert(id)
        defer {
            if firstOnDisk?.id == id {
                firstOnDisk = nil
                readMore()
            }
        }
        steps.add([.removeOutgoing(id)], settled: { [weak self] _ in self?.removed(id) })
        if let byteCount = older.byteCount {
            ends.failed(topic, older.qos, byteCount, PublishEnds.queueError(.messageReplaced, topic))
        }
        guard let recipient = recipients.removeValue(forKey: id) else { return }
        let entry = PublishLedger.Entry(recipient: recipient, topic: topic, qos: older.qos, payload: nil)
        ends.end(ledger.enter(entry), with: .queue(.messageReplaced))
    }

    /// A replaced message is not in the store any more.
    private func removed(_ id: StoredMessage.ID) {
        guard replaced.remove(id) != nil, reading != nil else { return }
        removedWhileReading.insert(id)
    }

    private func enter(_ arrival: Arrival) -> Token {
        ledger.enter(
            PublishLedger.Entry(
                recipient: arrival.recipient, topic: arrival.shape.topic, qos: arrival.shape.qos,
                payload: ends.isListenedTo ? arrival.payload : nil))
    }

    /// Hands a stored message to the gate, or ends it if it has waited too long; `false` when the gate does not take it.
    /// `latestStamp` is that of one of which only the latest counts.
    func handOver(_ message: StoredMessage, _ token: Token, latestStamp: UInt64?) -> Bool {
        live[token] = Live(id: message.id, qos: message.qos)
        let (now, date) = (loop.now, Date())
        let end = deadline(of: message, now: now, date: date)
        if let end, end <= now {
            passed(message.id)
            ended(token)
            ends.end(token, with: .queue(.messageExpired))
            return true
        }
        let admission = gate.submit(
            message.outgoing(token, now: now, date: date), isLatestOnly: latestStamp != nil, overflow: .fail,
            isStored: true, stamp: latestStamp ?? 0, giveUpAt: end)
        // What the store has belongs to the present session, which another thread may just have given up.
        switch admission {
        case .delivered, .queued:
            passed(message.id)
            return true
        case .full, .givenUp: noteRefused(message.id, until: end)
        case .offline, .late: break
        }
        live[token] = nil
        return false
    }

    /// When a message has waited too long; of one that was refused this is known, whatever became of the date since.
    private func deadline(
        of message: StoredMessage, now: ContinuousClock.Instant, date: Date
    ) -> ContinuousClock.Instant? {
        if message.isOver(at: date) { return now }
        if let firstOnDisk, firstOnDisk.id == message.id { return firstOnDisk.end }
        return message.expiresAt.map { now.advanced(by: .bounded(seconds: $0.timeIntervalSince(date))) }
    }

    private func noteRefused(_ id: StoredMessage.ID, until end: ContinuousClock.Instant?) {
        guard firstOnDisk?.id != id else { return }
        firstOnDisk = FirstOnDisk(id: id, end: end)
        if let end { expires(end) }
    }

    static let destroyed = CourierError(
        .clientDestroyed, "The client was destroyed before the message was stored.")
}

extension DurableOutbox.Arrival {
    /// The message for the store, accepted when the client took it.
    fileprivate func message(
        _ id: StoredMessage.ID, now: ContinuousClock.Instant, date: Date, _ policy: OfflinePolicy
    ) -> StoredMessage {
        var properties = shape.properties
        if properties.contentType == nil { properties.contentType = shape.contentType }
        let waited: Double = (addedAt?.duration(to: now).bounded ?? .zero) / .seconds(1)
        let storedAt = date.addingTimeInterval(-waited)
        return StoredMessage(
            id: id, topic: shape.topic, payload: payload, qos: shape.qos, isRetained: shape.isRetained,
            properties: properties, storedAt: storedAt,
            expiresAt: age(policy).map { storedAt.addingTimeInterval($0.bounded / .seconds(1)) })
    }
}
