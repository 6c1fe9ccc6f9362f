import CourierCore
import MQTTCodec
import MQTTEngine
import Synchronization

/// To the session and back. On the event loop.
extension OutgoingQueue {
    /// How many bytes the session takes at a time, 128 KiB; one message of any size is taken alone.
    static let takenByteLimit = 128 << 10

    /// The result of taking messages.
    struct Taken: Sendable {
        /// Whether no message was left that might go out now.
        var isAll = true
        /// Whether the session has to look again when the connection or the broker's quota changes.
        var isBlocked = false
        /// Whether messages that might go out wait behind the last number that was asked for.
        var hasLater = false
        /// When the next batch may go out after a reconnect.
        var nextBatch: MonotonicInstant?
        /// Whether ``OutgoingStore`` should read more rows.
        var readsRows = false
        /// Messages that had expired.
        var ended: [EndedPublish] = []
        /// Callers that have room now.
        var roomWaiters: [Waiter<Void>] = []

        /// Whether the client has anything to do.
        var needsAttention: Bool {
            nextBatch != nil || readsRows || !ended.isEmpty || !roomWaiters.isEmpty
        }
    }

    /// Takes the messages that may go out now, in order. Their bytes stay valid until the next call.
    ///
    /// - Parameters:
    ///   - views: Receives the messages. It is empty when nothing may go out.
    ///   - quota: How many messages of QoS 1 and 2 the broker accepts now.
    ///   - canWrite: Whether the connection accepts bytes.
    ///   - isLast: Whether the connection is about to end, so that no pacing applies.
    ///   - last: The number of the last message that may go out; see ``lastNumber``.
    ///   - now: The present.
    /// - Returns: What taking the messages led to.
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

    /// The conditions for taking messages.
    fileprivate struct Taking {
        var quota: Int
        let isLast: Bool
        let last: Int
        let now: MonotonicInstant
        var byteCount = 0
    }

    /// The number of the message that was accepted last. Numbers follow the order of acceptance.
    var lastNumber: Int { state.withLock { $0.table.lastNumber } }

    /// The broker has accepted a connection: messages may go out.
    func connected() {
        state.withLock { state in if !state.isHeld { state.rules.connected() } }
    }

    /// Messages wait from now on. QoS 0 ends, unless it may wait.
    func disconnected() -> Taken {
        state.withLock { state in
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

    /// The broker lost the session before it finished these messages: they wait again, in their old places.
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

    /// Gives memory back that only traffic needs.
    func trim() {
        state.withLock { state in
            state.table.trim()
            state.scratch.trim(above: 0)
            if state.latest.isEmpty { state.latest = [:] }
        }
    }
}

extension OutgoingQueue.State {
    /// Whether messages may go out.
    fileprivate var maySend: Bool { !isHeld && rules.isConnected }

    /// Begins the pacing of messages that waited for the connection, unless it has begun.
    fileprivate mutating func beginPace(_ now: MonotonicInstant) {
        guard rules.awaitsPace else { return }
        var count = 0
        for lane in EntryTable.Lane.allCases { count += table.waitingCount(in: lane) }
        rules.beginPace(waitingCount: count, now: now)
    }

    /// After how many messages the lock is free for callers, 32.
    private static var takenAtATime: Int { 32 }

    /// Takes the next messages; `false` when these are the last for now.
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
                table.markInFlight(slot)
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
                wakeCondition = .nothing  // The session looks again by itself.
                return false
            }
            wakeCondition =
                taken.nextBatch != nil ? .nothing : isQuotaUsed ? .unacknowledgedMessage : .anyMessage
            // With the quota used up, the loop is not woken for a later message either.
            taken.isBlocked = isWaiting || isQuotaUsed
        }
        taken.readsRows = rows.readsRows
        return false
    }

    /// The first entry that may go out: in order, but QoS 0 passes messages that wait for quota or for the message store.
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
