import CourierCore
import CourierTransport

/// Out of the store again: what is on disk only.
extension DurableOutbox {
    /// When ``endExpiredArrivals()`` and ``readMore()`` have to be called because a message that the gate does not have
    /// will have waited too long.
    var nextExpiry: ContinuousClock.Instant? {
        [arrivals.nextEnd, nextExpiryOnDisk].compactMap { $0 }.min()
    }

    /// The same of those that are on disk only; `nil` when the first is about to be found.
    private var nextExpiryOnDisk: ContinuousClock.Instant? {
        guard isSpilled, let end = firstOnDisk?.end else { return nil }
        return end <= loop.now && (reading != nil || retryTimer != nil) ? nil : end
    }

    private var isFirstOver: Bool { if let end = firstOnDisk?.end { end <= loop.now } else { false } }

    /// Reads the next messages that are on disk only, if the gate has room for them, or the first has waited too long. As
    /// long as none is known as the first, the gate is filled until it refuses one.
    func readMore() {
        loop.preconditionOnLoop()
        guard isSpilled, reading == nil, retryTimer == nil, let scope else { return }
        guard gate.hasRoom || isFirstOver || firstOnDisk == nil else { return }
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
        let ended = replaced.union(removedWhileReading)
        removedWhileReading = []
        switch page {
        case .success(let rows):
            for row in rows {
                // It is in the store already, and the store has not said so yet: it is accepted first.
                if row.message.id.rawValue > max(self.lastStored?.rawValue ?? 0, lastOfEarlierProcess) { return }
                // The session goes on with it under its packet id: anew, it would come twice.
                if restored.remove(row.message.id) != nil || ended.contains(row.message.id) {
                    passed(row.message.id)
                    continue
                }
                guard submit(row.message) else { return }
            }
            // What was stored since the page was read stands behind it.
            isSpilled = rows.count == StoredSession.pageSize || self.lastStored != lastStored
            if !isSpilled {
                firstOnDisk = nil
                endWaiting(Self.missing)
            }
            readMore()
        case .failure(let error):
            failed(.reading(error))
            retryTimer = loop.schedule(at: loop.now.advanced(by: Self.retryInterval)) { [weak self] in
                self?.retryTimer = nil
                self?.readMore()
            }
        }
    }

    /// A row is on disk only no more.
    func passed(_ id: StoredMessage.ID) {
        lastHandedOver = id
        if firstOnDisk?.id == id { firstOnDisk = nil }
    }

    func submit(_ message: StoredMessage) -> Bool {
        if message.id.rawValue <= lastOfEarlierProcess, message.id > lastTold ?? .zero {
            ends.began(message.topic, message.qos, message.payload.count)
            lastTold = message.id
        }
        if let error = refusal(of: message) {
            passed(message.id)
            reject(message, error)
            return true
        }
        let recipient = recipients[message.id] ?? .nobody
        let entry = PublishLedger.Entry(
            recipient: recipient, topic: message.topic, qos: message.qos,
            payload: ends.isListenedTo ? message.payload : nil)
        let token = ledger.enter(entry)
        let stamp = latestStamp(of: message)
        guard handOver(message, token, latestStamp: stamp) else {
            if ledger.take(token) == nil { recipients[message.id] = nil }  // It has ended with its session.
            return false
        }
        recipients[message.id] = nil
        if stamp != nil { latest[Array(message.topic.utf8)] = nil }
        return true
    }

    /// The stamp of a message that is on disk only, if a newer one to its topic replaces it.
    private func latestStamp(of message: StoredMessage) -> UInt64? {
        guard !latest.isEmpty, let row = latest[Array(message.topic.utf8)], row.id == message.id else { return nil }
        return row.stamp
    }

    private static let missing = CourierError(
        .storeDamaged,
        "The message was stored, and was not in the message store when its turn came. Publish it again if it may arrive "
            + "twice, and let nobody else change the store.")
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
