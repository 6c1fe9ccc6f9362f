import CourierCore
import MQTTEngine
import Synchronization

/// Reports which messages wait, and how many. All functions may be called from any thread.
extension OutgoingQueue {
    /// Writes the numbers of the queue into `metrics`.
    func fill(_ metrics: inout ClientMetrics) {
        state.withLock { state in
            metrics.acceptedCount = state.table.acceptedCount
            metrics.acknowledgedCount = state.acknowledgedCount
            metrics.failedCount = state.failedCount
            metrics.waitingCount = state.waitingCount
            metrics.waitingByteCount = state.rules.waiting.byteCount
            metrics.inFlightCount = state.table.count - state.table.waitingCount
            metrics.acknowledgementTimes = state.acknowledgementTimes
        }
    }

    /// The waiting messages that the queue has as entries. Messages of an earlier process that are not read from the
    /// store yet are only counted.
    struct WaitingEntries: Sendable {
        /// The number of waiting messages. Includes messages of an earlier process that are not read from the store
        /// yet.
        var count = 0
        /// The number of bytes of waiting messages that count toward ``OfflinePolicy/maximumBytes``.
        var byteCount = 0
        /// The number of messages of an earlier process that are not read from the store yet.
        var unreadCount = 0
        /// The oldest messages of an earlier process that are read from the store. They precede the messages that are
        /// not read yet.
        var earlier: [WaitingMessage] = []
        /// The oldest messages of this process. They follow all messages of an earlier process.
        var current: [WaitingMessage] = []
    }

    /// The maximum number of entries that are read in one locked section. After each section, the lock is free for
    /// other callers.
    private static let readAtATime = 64

    /// Returns the numbers and the oldest entries of the waiting messages.
    ///
    /// - Parameters:
    ///   - limit: The maximum number of messages in each list.
    ///   - now: The current time.
    /// - Returns: The numbers, and the messages in their order.
    func waitingEntries(limit: Int, now: MonotonicInstant) -> WaitingEntries {
        var entries = WaitingEntries()
        state.withLock { state in
            entries.count = state.waitingCount
            entries.byteCount = state.rules.waiting.byteCount
            entries.unreadCount = state.rules.unreadCount
        }
        var lastNumber = 0
        var isDone = false
        while !isDone {
            isDone = state.withLock { state in
                var slot = state.table.next(afterNumber: lastNumber)
                for _ in 0..<Self.readAtATime {
                    guard let one = slot, entries.current.count < limit else { return true }
                    lastNumber = state.table[one].number
                    let isEarlier = state.table.isEarlier(one)
                    if state.table[one].isWaiting, !isEarlier || entries.earlier.count < limit {
                        let message = state.waitingMessage(one, now)
                        if isEarlier { entries.earlier.append(message) } else { entries.current.append(message) }
                    }
                    slot = state.table.next(after: one)
                }
                return false
            }
        }
        return entries
    }
}

extension OutgoingQueue.State {
    /// The number of waiting messages. Includes messages of an earlier process that are not read from the store yet.
    fileprivate var waitingCount: Int { table.waitingCount + rules.unreadCount }

    fileprivate func waitingMessage(_ slot: EntryTable.Slot, _ now: MonotonicInstant) -> WaitingMessage {
        let topic = table.view(slot).map { String(decoding: $0.topic, as: UTF8.self) } ?? table[slot].row?.topic ?? ""
        return WaitingMessage(
            topic: topic, qos: table[slot].qos, byteCount: table[slot].byteCount,
            age: max(table.acceptedAt(slot).duration(to: now), .zero),
            isStored: table[slot].lane == .stored && table[slot].state != .storing)
    }
}
