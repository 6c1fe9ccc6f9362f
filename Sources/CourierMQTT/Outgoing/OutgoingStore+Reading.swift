import CourierCore
import CourierTransport
import Foundation
import MQTTEngine

/// Reads rows from the store: rows of an earlier process, and messages whose bytes are on disk only.
extension OutgoingStore {
    /// Reads the next page of rows if memory has room for them.
    func readNext() {
        loop.preconditionOnLoop()
        guard reading == nil, retryTimer == nil, let scope, let next = queue.nextReading else { return }
        let last: StoredMessage.ID? =
            switch next {
            case .unreadRows: lastRead
            case .from(let id): StoredMessage.ID(rawValue: id.rawValue - 1)
            }
        let (store, loop, epoch) = (store, loop, queue.epoch)
        reading = Task { [weak self] in
            let page: Result<[StoredOutgoing], any Error>
            do {
                page = .success(try await store.outgoing(in: scope, after: last, limit: StoredSession.pageSize))
            } catch {
                page = .failure(error)
            }
            loop.execute { [self] in self?.read(page, next, epoch: epoch) }
        }
    }

    private func read(_ page: Result<[StoredOutgoing], any Error>, _ request: OutgoingQueue.Reading, epoch: Int) {
        guard reading != nil, epoch == queue.epoch else { return }  // The session was destroyed during the read.
        reading = nil
        switch page {
        case .success(let rows):
            switch request {
            case .unreadRows: addEarlier(rows)
            case .from: fill(rows.map(\.message))
            }
            readNext()
        case .failure(let error):
            parts.failed(.reading(error))
            retryTimer = loop.schedule(at: loop.now.advanced(by: Self.retryInterval)) { [weak self] in
                self?.retryTimer = nil
                self?.readNext()
            }
        }
    }

    private func addEarlier(_ rows: [StoredOutgoing]) {
        var ended: [EndedPublish] = []
        defer {
            parts.results()?.report(ended)
            parts.watchExpiry()
        }
        for row in rows {
            guard row.message.id.rawValue <= lastEarlierID else { return endEarlierRows() }
            // Skip a restored row, because its message already has an entry: the session driver continues the message's
            // delivery.
            if restored.remove(row.message.id) == nil {
                guard let end = addEarlier(row) else {
                    parts.wakeSession()
                    return
                }
                ended += end
            }
            lastRead = row.message.id
        }
        if rows.count < StoredSession.pageSize { return endEarlierRows() }
        parts.wakeSession()
    }

    private func endEarlierRows() {
        restored = []
        _ = queue.endEarlierRows()
        parts.wakeSession()
    }

    /// Adds an entry for a row of an earlier process. Returns the messages that ended, or `nil` if memory is full.
    private func addEarlier(_ row: StoredOutgoing) -> [EndedPublish]? {
        let message = row.message
        if let error = refusal(of: message) {
            parts.results()?.began(message.topic, message.qos, message.payload.count)
            reject(message, error)
            return []
        }
        let (token, ended) = queue.addEarlier(loadedRow(message))
        guard let token else { return nil }
        parts.results()?.began(message.topic, message.qos, message.payload.count)
        if row.strikes > 0 { parts.suspect(token, row.strikes) }
        return ended.map { [$0] } ?? []
    }

    private func fill(_ rows: [StoredMessage]) {
        let (missing, wakesSession) = queue.fill(from: rows, isLast: rows.count < StoredSession.pageSize)
        if wakesSession { parts.wakeSession() }
        parts.results()?.report(missing)
    }

    func stopReading() {
        reading?.cancel()
        reading = nil
        if let retryTimer { loop.cancel(retryTimer) }
        retryTimer = nil
    }

    func loadedRow(_ message: StoredMessage) -> OutgoingQueue.LoadedRow {
        let now = loop.now
        let time = parts.clock.time(at: now)
        let age = message.age(at: time)
        return OutgoingQueue.LoadedRow(
            message: message, acceptedAt: now.advanced(by: .zero - age.bounded),
            end: message.remaining(at: time).map { now.advanced(by: $0.bounded) },
            expiry: message.properties.messageExpiry.map { now.advanced(by: ($0.bounded - age).bounded) },
            isLatestOnly: message.isLatestOnly, isObserved: parts.results()?.isObserved ?? false)
    }

    // MARK: Rejected messages

    /// Returns the reason why the client must not send a message of an earlier process; `nil` if the message may be
    /// sent.
    func refusal(of message: StoredMessage) -> CourierError? {
        do throws(CourierError) {
            try parts.texts.check(topicName: message.topic)
            try message.properties.check(topic: message.topic, parts.texts)
            return nil
        } catch {
            return error
        }
    }

    /// Ends a message that the client must not send, and removes it from the store. The event contains the whole
    /// message.
    func reject(_ message: StoredMessage, _ error: CourierError) {
        parts.results()?.failed(message.topic, message.qos, message.payload.count, error)
        parts.rejected(message, error)
        steps.add(.removeOutgoing(message.id))
    }
}

extension CourierError {
    /// Returns the error to report for a store that could not be read.
    static func reading(_ error: any Error) -> CourierError {
        (error as? CourierError)
            ?? CourierError(
                .storeFailed, "The message store could not be read; the client reads the store again later.",
                cause: error)
    }
}
