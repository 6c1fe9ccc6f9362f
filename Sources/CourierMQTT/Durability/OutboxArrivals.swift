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
    }
}

/// Messages before they are on their way into the store, and who waits for room among them. From any thread.
///
/// It resumes nobody: what is taken out is its taker's.
final class OutboxArrivals: Sendable {
    enum Verdict {
        case taken
        /// It is the first since they were taken out: somebody has to look.
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

        mutating func takeAll() -> Taken {
            defer { (taken, byteCount) = (Taken(), 0) }
            return taken
        }
    }

    private let policy: OfflinePolicy
    private let state = Mutex(State())

    init(_ policy: OfflinePolicy) { self.policy = policy }

    /// Takes a message of the session after so many that were given up, if there is room; throws when that one was,
    /// too.
    func add(_ arrival: DurableOutbox.Arrival, to session: Int) throws(CourierError) -> Verdict {
        let (verdict, end) = state.withLock { state -> (Verdict, CourierError?) in
            if let end = state.end { return (.full, end) }
            if state.givenUp > session { return (.full, DurableOutbox.destroyed) }
            guard state.hasRoom(policy) else { return (.full, nil) }
            var stamped = arrival
            stamped.stamp = state.nextStamp()
            state.taken.list.append(stamped)
            state.byteCount += arrival.payload.count + arrival.shape.topic.utf8.count
            defer { state.isScheduled = true }
            return (state.isScheduled ? .taken : .takenFirst, nil)
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
