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

        var byteCount: Int { payload.count + shape.topic.utf8.count }

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
    /// How many are awaited at most before somebody looks, 128: with more, the store has something to do meanwhile.
    static let gatheringLimit = 128

    enum Verdict {
        case taken
        /// It is the first since they were taken out, or the first whose time will be over: somebody has to look.
        case takenFirst
        /// Too much waits, and it is given up as the policy says.
        case givenUp
        /// Too much waits.
        case full
    }

    struct Taken {
        var list: [DurableOutbox.Arrival] = []
        /// Who waited for the room that is there now.
        var roomWaiters: [Waiter<Void>] = []
    }

    /// What became of a message, and what it has ended.
    struct Addition {
        let verdict: Verdict
        /// The older one that it replaces.
        var replaced: DurableOutbox.Arrival?
        /// What was given up for it.
        var dropped = Taken()
    }

    private struct State {
        var waiting: ArrivalQueue
        var roomWaiters: [Waiter<Void>] = []
        /// When the first of them will have waited too long.
        var nextEnd: ContinuousClock.Instant?
        /// Whether somebody is going to look.
        var isScheduled = false
        /// How many are to wait before somebody looks.
        var awaited = 1
        /// How many sessions were given up. They are of the one after these, whose turn it may not be yet.
        var givenUp = 0
        /// The stamp that was given last.
        var lastStamp: UInt64 = 0
        /// Why nothing is taken any more.
        var end: CourierError?

        /// Takes out those who wait for room, if there is some.
        mutating func takeRoomWaiters() -> [Waiter<Void>] {
            guard waiting.hasRoom else { return [] }
            defer { roomWaiters = [] }
            return roomWaiters
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

        /// Whether more are awaited before somebody looks, and there is room for them.
        var isGathering: Bool { waiting.count < awaited && awaited > 1 && waiting.hasRoom }

        mutating func takeAll() -> Taken {
            defer { (roomWaiters, nextEnd, awaited) = ([], nil, 1) }
            return Taken(list: waiting.removeAll(), roomWaiters: roomWaiters)
        }
    }

    private let policy: OfflinePolicy
    private let state: Mutex<State>

    init(_ policy: OfflinePolicy) {
        self.policy = policy
        state = Mutex(State(waiting: ArrivalQueue(policy)))
    }

    /// Takes a message of the session after so many that were given up, if there is room; throws when that one was,
    /// too. Its time runs from `now` on. `began` is told, under the lock, that it is taken or given up: before anybody can
    /// tell its end.
    func add(
        _ arrival: DurableOutbox.Arrival, to session: Int, at now: ContinuousClock.Instant, began: () -> Void
    ) throws(CourierError) -> Addition {
        let messageEnd = arrival.end(from: now, policy)
        let (addition, end) = state.withLock { state -> (Addition, CourierError?) in
            if let end = state.end { return (Addition(verdict: .full), end) }
            if state.givenUp > session { return (Addition(verdict: .full), DurableOutbox.destroyed) }
            var stamped = arrival
            stamped.stamp = state.nextStamp()
            stamped.addedAt = now
            let admission = state.waiting.append(stamped)
            switch admission.fate {
            case .refused: return (Addition(verdict: .full), nil)
            case .givenUp:
                began()
                return (Addition(verdict: .givenUp), nil)
            case .taken: began()
            }
            var dropped = Taken(list: admission.dropped)
            // What is gone may have been larger than what came for it.
            if admission.replaced != nil || !dropped.list.isEmpty { dropped.roomWaiters = state.takeRoomWaiters() }
            let isDue = !state.isScheduled && !state.isGathering
            if isDue { state.isScheduled = true }
            let isFirst = state.note(messageEnd) || isDue
            return (
                Addition(verdict: isFirst ? .takenFirst : .taken, replaced: admission.replaced, dropped: dropped), nil
            )
        }
        if let end { throw end }
        return addition
    }

    /// The stamp of a message that passes the store by: higher than those of what was handed over before.
    func nextStamp() -> UInt64 { state.withLock { $0.nextStamp() } }

    /// A waiter for room; resumed at once if there is some.
    func roomWaiter(_ census: WaiterCensus) -> Waiter<Void> {
        let waiter = Waiter<Void>(census)
        let hasRoom = state.withLock { state in
            if state.waiting.hasRoom { return true }
            state.roomWaiters.append(waiter)
            return false
        }
        if hasRoom { waiter.resume(.success(())) }
        return waiter
    }

    /// Forgets a waiter that waits no more.
    func forget(_ waiter: Waiter<Void>) {
        state.withLock { state in state.roomWaiters.removeAll { $0 === waiter } }
    }

    /// Has nobody look before so many more wait than now: the callers whose messages these were, of the session after so many
    /// that were given up, are about to be told, and each may bring one.
    ///
    /// - Returns: Whether ``stopGathering()`` is to follow. Not for one alone or more than ``gatheringLimit``, nor where there
    ///   may be no room for as much again.
    func gather(after told: [DurableOutbox.Arrival], ofSession session: Int) -> Bool {
        let count = told.count { $0.acceptance != nil }
        guard 1...Self.gatheringLimit ~= count else { return false }
        let byteCount = told.reduce(0) { $0 + $1.byteCount }
        return state.withLock { state in
            let awaited = state.waiting.count + count
            guard 2...Self.gatheringLimit ~= awaited, awaited <= policy.maximumCount / 2,
                state.waiting.byteCount + byteCount <= policy.maximumBytes / 2, state.givenUp <= session
            else { return false }
            (state.awaited, state.isScheduled) = (awaited, false)
            return true
        }
    }

    /// Awaits no more.
    ///
    /// - Returns: Whether somebody has to look.
    func stopGathering() -> Bool {
        state.withLock { state in
            guard state.awaited > 1 else { return false }
            state.awaited = 1
            guard !state.isScheduled, state.waiting.count > 0 else { return false }
            state.isScheduled = true
            return true
        }
    }

    /// Takes out what is of the session after so many that have ended, nothing while that one is given up, too; `nil` while
    /// more are awaited.
    func take(ofSession session: Int) -> Taken? {
        state.withLock { state in
            state.isScheduled = false
            guard !state.isGathering else { return nil }
            state.awaited = 1
            return state.givenUp > session ? Taken() : state.takeAll()
        }
    }

    /// When the first of them will have waited too long.
    var nextEnd: ContinuousClock.Instant? { state.withLock { $0.nextEnd } }

    /// Takes out what has waited too long.
    func takeExpired(now: ContinuousClock.Instant) -> Taken {
        state.withLock { state in
            guard let nextEnd = state.nextEnd, nextEnd <= now else { return Taken() }
            var first: ContinuousClock.Instant?
            let expired = state.waiting.removeAll { arrival in
                guard let end = arrival.addedAt.flatMap({ arrival.end(from: $0, policy) }) else { return false }
                if end <= now { return true }
                first = min(first ?? end, end)
                return false
            }
            state.nextEnd = first
            return Taken(list: expired, roomWaiters: state.takeRoomWaiters())
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
