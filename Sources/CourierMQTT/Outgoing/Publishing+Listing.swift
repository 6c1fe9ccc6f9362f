import CourierCore
import CourierTransport
import MQTTEngine

extension Publishing {
    /// Returns the numbers of the waiting messages, and the oldest of them.
    ///
    /// Messages that an earlier process stored are read from the message store, unless the queue has already read them.
    func waiting() async throws -> WaitingMessages {
        let limit = WaitingMessages.listLimit
        let entries = queue.waitingEntries(limit: limit, now: MonotonicInstant(loop.clock.now))
        var oldest = entries.earlier
        if entries.unreadCount > 0, oldest.count < limit, let store {
            oldest += try await store.unreadMessages(limit: limit - oldest.count, waiterCount)
        }
        oldest += entries.current.prefix(limit - oldest.count)
        return WaitingMessages(count: entries.count, byteCount: entries.byteCount, oldest: oldest)
    }
}

extension OutgoingStore {
    /// Reads the oldest rows of an earlier process that are not entries of the queue yet.
    ///
    /// - Parameters:
    ///   - limit: The maximum number of messages.
    ///   - waiterCount: Counts this call while it waits for the event loop.
    /// - Returns: The messages, oldest first. There may be fewer than `limit`, if the queue began to read the rows
    ///   during this call.
    /// - Throws: The error of the store, or `CancellationError`.
    fileprivate func unreadMessages(limit: Int, _ waiterCount: WaiterCount) async throws -> [WaitingMessage] {
        let waiter = Waiter<Position?>(waiterCount)
        loop.execute { [self] in
            waiter.resume(.success(scope.map { Position(scope: $0, last: lastRead, end: lastEarlierID) }))
        }
        guard var position = try await waiter.value() else { return [] }
        var messages: [WaitingMessage] = []
        while messages.count < limit {
            let page = try await store.outgoing(in: position.scope, after: position.last, limit: StoredSession.pageSize)
            let now = parts.clock.time(at: loop.clock.now)
            for row in page {
                guard row.message.id.rawValue <= position.end, messages.count < limit else { return messages }
                if case .queued = row.progress { messages.append(WaitingMessage(row.message, now)) }
            }
            guard page.count == StoredSession.pageSize, let last = page.last else { break }
            position.last = last.message.id
        }
        return messages
    }

    /// The position in the store where the unread rows begin.
    private struct Position: Sendable {
        let scope: StoreScope
        var last: StoredMessage.ID?
        /// The id of the last row that an earlier process wrote.
        let end: UInt64
    }
}

extension WaitingMessage {
    fileprivate init(_ message: StoredMessage, _ now: StoreTime) {
        self.init(
            topic: message.topic, qos: message.qos, byteCount: message.topic.utf8.count + message.payload.count,
            age: message.age(at: now), isStored: true)
    }
}
