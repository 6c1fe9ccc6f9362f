import CourierCore
import MQTTCodec
import MQTTEngine
import Synchronization

/// Passes messages to the session driver, and takes unacknowledged messages back if the broker lost the session. All
/// functions run on the event loop.
extension OutgoingQueue {
    /// The size at which the session driver takes no further messages in one call, 128 KiB. The last message may exceed
    /// this size, so that a message of any size can be taken.
    static let takenByteLimit = 128 << 10

    /// The result of taking messages.
    struct Taken: Sendable {
        /// True if the session driver took all messages that may be sent now.
        var isAll = true
        /// True if the session driver must check the queue again when the connection or the broker's quota changes.
        var isBlocked = false
        /// True if messages remain that this call must not take, because their numbers are higher than the parameter
        /// `last`.
        var hasLater = false
        /// The time when the next batch after a reconnect may be sent; `nil` if no batch waits for its time.
        var nextBatch: MonotonicInstant?
        /// True if ``OutgoingStore`` must read more rows.
        var readsRows = false
        /// Messages that ended, because they expired or the connection ended.
        var ended: [EndedPublish] = []
        /// Waiters to resume, because there is room for their messages.
        var roomWaiters: [Waiter<Void>] = []

        /// True if the client has to act on this result.
        var needsAttention: Bool {
            nextBatch != nil || readsRows || !ended.isEmpty || !roomWaiters.isEmpty
        }
    }

    /// Takes the messages that may be sent now, in their order. Their bytes stay valid until the next call.
    ///
    /// - Parameters:
    ///   - views: Receives the messages. It stays empty if no message may be sent.
    ///   - quota: The number of QoS 1 and 2 messages that the broker accepts now.
    ///   - canWrite: Whether the connection accepts bytes.
    ///   - isLast: Whether the connection is about to end. Then all messages may be sent at once, without pauses
    ///     between batches.
    ///   - last: The number of the last message that may be sent; see ``lastNumber``.
    ///   - now: The current time.
    /// - Returns: The result, with the work that remains.
    func take(
        _ views: inout [MessageView], quota: Int, canWrite: Bool, isLast: Bool = false, through last: Int = .max,
        now: Instant
    ) -> Taken {
        let now = MonotonicInstant(now)
        var taking = Taking(quota: quota, isLast: isLast, last: last, now: now)
        var taken = Taken()
        let begins = state.withLock { state in
            state.table.endLending()
            guard canWrite, state.maySend else {
                state.wakeCondition = .nothing
                return false
            }
            state.beginPace(now)
            return true
        }
        guard begins else { return Taken(isBlocked: true) }
        while state.withLock({ $0.take(&views, &taking, &taken) }) {}
        return taken
    }

    /// The conditions for taking messages, and the number of bytes taken so far.
    fileprivate struct Taking {
        var quota: Int
        let isLast: Bool
        let last: Int
        let now: MonotonicInstant
        var byteCount = 0
    }

    /// The number of the message that was accepted last. Numbers follow the order of acceptance.
    var lastNumber: Int { state.withLock { $0.table.lastNumber } }

    /// Records that the broker accepted a connection, so that messages may be sent.
    func connected() {
        isProbablyConnected.store(true, ordering: .relaxed)
        state.withLock { state in if !state.isHeld { state.rules.connected() } }
    }

    /// Records that the connection ended. QoS 0 messages fail, unless the policy lets them wait. Other messages wait
    /// for the next connection.
    func disconnected() -> Taken {
        isProbablyConnected.store(false, ordering: .relaxed)
        return state.withLock { state in
            var taken = Taken()
            taken.roomWaiters = state.rules.disconnected()
            state.wakeCondition = .nothing
            state.table.endLending()
            if !state.rules.policy.queuesQoS0 {
                while let slot = state.table.firstWaiting(in: .unacknowledged) {
                    taken.ended.append(state.end(slot, .connectionLost))
                }
            }
            taken.roomWaiters += state.rules.takeReadyWaiters()
            return taken
        }
    }

    /// Makes messages wait again in their old places, because the broker lost the session before it acknowledged them.
    /// Returns the messages that ended because a newer latest-only message replaced them.
    func returned(_ tokens: [Token]) -> [EndedPublish] {
        state.withLock { state in
            var ended: [EndedPublish] = []
            for token in tokens {
                guard let slot = state.table.slot(of: token) else { continue }
                state.table.markReturned(slot)
                if state.table[slot].lane == .stored { state.rows.entered(state.table[slot].byteCount) }
                _ = state.note(state.table[slot].end)
                guard state.table[slot].flags.contains(.isLatestOnly) else { continue }
                let key = state.topicBytes(slot)
                guard let other = state.latest[key].flatMap({ state.table.slot(of: $0) }) else {
                    state.latest[key] = token
                    continue
                }
                let isNewer = other < slot
                ended.append(state.end(isNewer ? other : slot, .replaced))
                if isNewer { state.latest[key] = token }
            }
            return ended
        }
    }

    /// Frees memory that is needed only while messages are sent.
    func trim() {
        state.withLock { state in
            state.table.trim()
            state.scratch.trim(above: 0)
            if state.latest.isEmpty { state.latest = [:] }
        }
    }
}

extension OutgoingQueue.State {
    /// True if messages may be sent.
    fileprivate var maySend: Bool { !isHeld && rules.isConnected }

    /// If this is the first call on a connection, divides the messages that waited for it into batches with pauses.
    fileprivate mutating func beginPace(_ now: MonotonicInstant) {
        guard rules.awaitsPace else { return }
        var count = 0
        for lane in EntryTable.Lane.allCases { count += table.waitingCount(in: lane) }
        rules.beginPace(waitingCount: count, now: now)
    }

    /// The maximum number of messages that are taken in one locked section, 32. After each section, the lock is free
    /// for callers.
    private static var takenAtATime: Int { 32 }

    /// Takes the next messages. Returns true if the function must be called again, because more messages may be taken
    /// now.
    fileprivate mutating func take(
        _ views: inout [MessageView], _ taking: inout OutgoingQueue.Taking, _ taken: inout OutgoingQueue.Taken
    ) -> Bool {
        guard maySend else {
            taken.isBlocked = views.isEmpty
            return false
        }
        var count = 0
        let limit = min(taking.isLast ? .max : rules.pacedCount(now: taking.now) ?? .max, Self.takenAtATime)
        table.beginLending()
        while count < limit, taking.byteCount < OutgoingQueue.takenByteLimit,
            let slot = nextTakable(quota: taking.quota), table[slot].number <= taking.last
        {
            if table[slot].end <= taking.now {
                taken.ended.append(self.end(slot, .expired))
                continue
            }
            guard let view = table.view(slot) else { break }
            views.append(view)
            count += 1
            taking.byteCount += table[slot].byteCount
            if table[slot].flags.contains(.isCounted) {
                rules.uncount(table[slot].byteCount, isDroppable: table[slot].flags.contains(.isDroppable))
            }
            if table[slot].flags.contains(.isLatestOnly) { forgetLatest(slot) }
            if table[slot].lane == .unacknowledged {
                table.remove(slot)
            } else {
                if table[slot].lane == .stored { rows.left(table[slot].byteCount) }
                table.markInFlight(slot, now: taking.now)
                taking.quota -= 1
            }
        }
        rules.sent(count, now: taking.now)
        taken.roomWaiters += rules.takeReadyWaiters()
        if count == Self.takenAtATime, taking.byteCount < OutgoingQueue.takenByteLimit { return true }
        taken.isAll = taking.byteCount < OutgoingQueue.takenByteLimit
        if views.isEmpty {
            table.endLending()
            let isQuotaUsed = taking.quota <= 0
            let isWaiting = table.hasWaiting
            taken.nextBatch = rules.nextBatch
            if let slot = nextTakable(quota: taking.quota), table[slot].number > taking.last {
                taken.hasLater = true
                wakeCondition = .nothing  // The session driver checks the queue again without being woken.
                return false
            }
            wakeCondition =
                taken.nextBatch != nil ? .nothing : isQuotaUsed ? .unacknowledgedMessage : .anyMessage
            // If the quota is used up, a later QoS 1 or 2 message does not wake the event loop. So the session driver
            // must check the queue again when the quota changes.
            taken.isBlocked = isWaiting || isQuotaUsed
        }
        taken.readsRows = rows.readsRows
        return false
    }

    /// Returns the first entry that may be sent; `nil` if there is none. Entries keep their order, with two exceptions.
    /// If the broker's quota is used up, QoS 0 messages overtake the waiting messages of other QoS. Messages that are
    /// kept only in memory overtake messages that wait for the message store.
    private mutating func nextTakable(quota: Int) -> EntryTable.Slot? {
        var first = table.firstWaiting(in: .unacknowledged)
        guard quota > 0 else { return first }
        if let slot = table.firstWaiting(in: .memory), slot < first ?? .max { first = slot }
        if let slot = table.firstWaiting(in: .stored), slot < first ?? .max, table[slot].state == .ready,
            !rows.isBehindUnreadRows(table[slot])
        {
            first = slot
        }
        return first
    }
}
