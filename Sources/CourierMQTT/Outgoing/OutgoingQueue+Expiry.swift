import MQTTEngine
import Synchronization

/// Ends waiting messages that are too old.
extension OutgoingQueue {
    /// Ends messages that have waited too long.
    ///
    /// - Returns: The ended messages, and the time when the next message expires.
    func endExpired(now: Instant) -> (taken: Taken, next: Instant?) {
        state.withLock { state in
            let now = MonotonicInstant(now)
            guard state.nextEnd <= now else { return (Taken(), state.nextEndInstant) }
            var taken = Taken()
            var first = MonotonicInstant.never
            var slot = state.table.first
            while let one = slot {
                slot = state.table.next(after: one)
                guard state.table[one].isWaiting else { continue }
                let end = state.table[one].end
                if end <= now {
                    taken.ended.append(state.end(one, .expired))
                } else {
                    first = min(end, first)
                }
            }
            state.nextEnd = first
            taken.roomWaiters = state.rules.takeReadyWaiters()
            return (taken, state.nextEndInstant)
        }
    }
}

extension OutgoingQueue.State {
    /// Records the time `end` when an entry expires. Returns true if this entry expires before all other entries.
    mutating func note(_ end: MonotonicInstant) -> Bool {
        guard end < nextEnd else { return false }
        nextEnd = end
        return true
    }
}
