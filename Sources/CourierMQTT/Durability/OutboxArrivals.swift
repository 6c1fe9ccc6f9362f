import CourierCore
import Synchronization

extension DurableOutbox {
    /// A message on its way into the store.
    struct Arrival: Sendable {
        let shape: Publishing.Shape
        let payload: [UInt8]
        let recipient: PublishLedger.Recipient
        /// Who waits only until the store has it; the recipient is nobody then.
        let acceptance: Waiter<Void>?
        /// Its place in the order of what was handed over; ``OutboxArrivals`` gives it.
        var stamp: UInt64 = 0
        /// When the client took it; ``OutboxArrivals`` notes it.
        var addedAt: ContinuousClock.Instant?

        fileprivate var byteCount: Int { payload.count + shape.topic.utf8.count }

        /// How long it may wait; for ever with `nil`.
        func age(_ policy: OfflinePolicy) -> Duration? {
            guard let own = shape.properties.messageExpiry else { return policy.maximumAge }
            return policy.maximumAge.map { min($0, own) } ?? own
        }

        /// When it has waited too long that waits since `start`.
        fileprivate func end(from start: ContinuousClock.Instant, _ policy: OfflinePolicy) -> ContinuousClock.Instant? {
            age(policy).map { start.advanced(by: $0.bounded) }
        }
    }
}

/// Messages before they are on their way into the store, and who waits for room among them. From any thread.
///
/// It resumes nobody: what is taken out is its taker's.
final class OutboxArrivals: Sendable {
    enum Verdict {
        case taken
        /// It is the first since they were taken out, or the first whose time will be over: somebody has to look.
        case takenFirst
        /// Too much waits.
        case full
    }

    struct Taken {
        var list: [DurableOutbox.Arrival] = []
        /// Who waited for the room that is there now.
        var roomWaiters: [Waiter<Void>] = []
    }

    private struct State {
        var taken = Taken()
        var byteCount = 0
        /// When the first of them will have waited too long.
        var nextEnd: ContinuousClock.Instant?
        /// Whether somebody is going to look.
        var isScheduled = false
        /// How many sessions were given up. They are of the one after these, whose turn it may not be yet.
        var givenUp = 0
        /// The stamp that was given last.
        var lastStamp: UInt64 = 0
        /// Why nothing is taken any more.
        var end: CourierError?

        func hasRoom(_ policy: OfflinePolicy) -> Bool {
            taken.list.count < policy.maximumCount && byteCount < policy.maximumBytes
        }

        mutating func nextStamp() -> UInt64 {
            lastStamp += 1
            return lastStamp
        }

        /// Notes when a message will have waited too long.
        ///
        /// - Returns: Whether that is before all others.
        mutating func note(_ end: ContinuousClock.Instant?) -> Bool {
            guard let end, nextEnd.map({ end < $0 }) ?? true else { return false }
            nextEnd = end
            return true
        }

        mutating func takeAll() -> Taken {
            defer { (taken, byteCount, nextEnd) = (Taken(), 0, nil) }
            return taken
        }
    }

    private let policy: OfflinePolicy
    private let state = Mutex(State())

    init(_ policy: OfflinePolicy) { self.policy = policy }

    /// Takes a message of the session after so many that were given up, if there is room; throws when that one was,
    /// too. Its time runs from `now` on.
    func add(
        _ arrival: DurableOutbox.Arrival, to session: Int, at now: ContinuousClock.Instant
    ) throws(CourierError) -> Verdict {
        let messageEnd = arrival.end(from: now, policy)
        let (verdict, end) = state.withLock { state -> (Verdict, CourierError?) in
            if let end = state.end { return (.full, end) }
            if state.givenUp > session { return (.full, DurableOutbox.destroyed) }
            guard state.hasRoom(policy) else { return (.full, nil) }
            var stamped = arrival
            stamped.stamp = state.nextStamp()
            stamped.addedAt = now
            state.taken.list.append(stamped)
            state.byteCount += arrival.byteCount
            let isFirst = state.note(messageEnd) || !state.isScheduled
            state.isScheduled = true
            return (isFirst ? .takenFirst : .taken, nil)
        }
        if let end { throw end }
        return verdict
    }

    /// The stamp of a message that passes the store by: higher than those of what was handed over before.
    func nextStamp() -> UInt64 { state.withLock { $0.nextStamp() } }

    /// A waiter for room; resumed at once if there is some.
    func roomWaiter(_ census: WaiterCensus) -> Waiter<Void> {
        let waiter = Waiter<Void>(census)
        let hasRoom = state.withLock { state in
            if state.hasRoom(policy) { return true }
            state.taken.roomWaiters.append(waiter)
            return false
        }
        if hasRoom { waiter.resume(.success(())) }
        return waiter
    }

    /// Forgets a waiter that waits no more.
    func forget(_ waiter: Waiter<Void>) {
        state.withLock { state in state.taken.roomWaiters.removeAll { $0 === waiter } }
    }

    /// Takes out what is of the session after so many that have ended; nothing while that one is given up, too.
    func take(ofSession session: Int) -> Taken {
        state.withLock { state in
            state.isScheduled = false
            return state.givenUp > session ? Taken() : state.takeAll()
        }
    }

    /// When the first of them will have waited too long.
    var nextEnd: ContinuousClock.Instant? { state.withLock { $0.nextEnd } }

    /// Takes out what has waited too long.
    func takeExpired(now: ContinuousClock.Instant) -> Taken {
        state.withLock { state in
            guard let nextEnd = state.nextEnd, nextEnd <= now else { return Taken() }
            var expired = Taken()
            let waiting = state.taken.list
            (state.taken.list, state.byteCount, state.nextEnd) = ([], 0, nil)
            for arrival in waiting {
                let end = arrival.addedAt.flatMap { arrival.end(from: $0, policy) }
                if let end, end <= now {
                    expired.list.append(arrival)
                } else {
                    state.taken.list.append(arrival)
                    state.byteCount += arrival.byteCount
                    _ = state.note(end)
                }
            }
            if state.hasRoom(policy) { swap(&expired.roomWaiters, &state.taken.roomWaiters) }
            return expired
        }
    }

    /// What comes from now on is the next session's. ``DurableOutbox/removeAll(_:)`` follows for each.
    ///
    /// - Returns: What was of this one.
    func giveUpSession() -> Taken {
        state.withLock { state in
            state.givenUp += 1
            return state.takeAll()
        }
    }

    /// Takes nothing more.
    ///
    /// - Returns: What was there.
    func finish(_ error: CourierError) -> Taken {
        state.withLock { state in
            state.end = error
            return state.takeAll()
        }
    }
}
