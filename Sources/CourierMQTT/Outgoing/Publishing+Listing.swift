import CourierCore
import CourierTransport
import MQTTEngine

extension Publishing {
    /// Returns the numbers of the waiting messages, and the oldest of them.
    ///
    /// Messages that an earlier process stored are read from the message store, unless the queue has already read them.
    func waiting() async throws -> WaitingMessages {
        let limit = WaitingMessages.listLimit
        guard let store else {
            return WaitingMessages(queue.waitingEntries(limit: limit, now: MonotonicInstant(loop.clock.now)), [])
        }
        let (entries, position) = try await store.waitingEntries(limit: limit, waiterCount)
        guard entries.unreadCount > 0, let position else { return WaitingMessages(entries, []) }
        return WaitingMessages(
            entries, try await store.unreadMessages(limit: limit - entries.earlier.count, from: position))
    }
}

extension OutgoingStore {
    /// Returns the waiting entries of the queue, and the position in the store where the unread rows begin. One job of
    /// the event loop reads both, so that no row becomes an entry in between.
    ///
    /// - Parameters:
    ///   - limit: The maximum number of messages in each list.
    ///   - waiterCount: Counts this call while it waits for the event loop.
    /// - Returns: The entries, and the position; `nil` if no session is open.
    /// - Throws: `CancellationError`.
    fileprivate func waitingEntries(
        limit: Int, _ waiterCount: WaiterCount
    ) async throws -> (OutgoingQueue.WaitingEntries, Position?) {
        let waiter = Waiter<(OutgoingQueue.WaitingEntries, Position?)>(waiterCount)
        loop.execute { [self] in
            let entries = queue.waitingEntries(limit: limit, now: MonotonicInstant(loop.clock.now))
            let position = scope.map { Position(scope: $0, last: lastRead, end: lastEarlierID) }
            waiter.resume(.success((entries, position)))
        }
        return try await waiter.value()
    }

    /// Reads the oldest rows of an earlier process that are not entries of the queue yet.
    ///
    /// - Parameters:
    ///   - limit: The maximum number of messages.
    ///   - start: The position of the first of these rows.
    /// - Returns: The messages, oldest first.
    /// - Throws: The error of the store.
    fileprivate func unreadMessages(limit: Int, from start: Position) async throws -> [WaitingMessage] {
        var position = start
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
    fileprivate struct Position: Sendable {
        let scope: StoreScope
        var last: StoredMessage.ID?
        /// The id of the last row that an earlier process wrote.
        let end: UInt64
    }
}

extension WaitingMessages {
    /// Makes a list of the entries of the queue, and of messages that are only in the store.
    fileprivate init(_ entries: OutgoingQueue.WaitingEntries, _ unread: [WaitingMessage]) {
        let earlier = entries.earlier + unread
        let current = entries.current.prefix(Self.listLimit - earlier.count)
        self.init(count: entries.count, byteCount: entries.byteCount, oldest: earlier + current)
    }
}

extension WaitingMessage {
    fileprivate init(_ message: StoredMessage, _ now: StoreTime) {
        self.init(
            topic: message.topic, qos: message.qos, byteCount: message.topic.utf8.count + message.payload.count,
            age: message.age(at: now), isStored: true)
    }
}
