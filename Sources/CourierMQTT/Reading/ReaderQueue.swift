import CourierCore
import Synchronization

/// The messages that wait for one reader. The event loop adds them in batches, and the reader takes them.
///
/// The batch that the reader took last is its *hand*. The reader claims each message of its hand when it reads the
/// message. When the reader leaves, `close()` returns the unclaimed messages. A reader that waits for messages sets a
/// ``Waker``, which is called once. Callbacks are called after the lock is released.
final class ReaderQueue: Sendable {
    /// Wakes a waiting reader. Called once, while no lock is held.
    typealias Waker = @Sendable () -> Void

    /// The result of ``push(_:isOverrun:)``, which adds a batch.
    struct Pushed {
        /// The number of dropped messages of QoS 0.
        var dropped = 0
        /// True if the queue is full, so that reading from the broker must pause. ``drained`` is called when the queue
        /// has room again.
        var isFull = false
        /// True if the number or the size of the waiting messages is at least twice the limit.
        var isOverfull = false
        /// True if the queue did not accept the batch, because the queue had already ended.
        var isEnded = false
        /// True if the queue has ended and its reader has left.
        var isClosed = false
    }

    private struct State {
        /// The size at which a batch for the reader is complete, 256 KiB. A batch needs its own limit, because messages
        /// that the reader has taken do not count toward the limits of the queue.
        private var handByteLimit: Int { 256 << 10 }

        /// The slices of the queue. The reader has already taken the slices before the index `first`. The other slices
        /// wait.
        private var slices: [MessageSlice] = []
        private var first = 0
        /// The number of waiting messages.
        private(set) var count = 0
        private(set) var byteCount = 0
        /// The number of waiting messages of QoS 0, which may be dropped.
        private(set) var disposableCount = 0
        /// The number of waiting slices that may contain a message to acknowledge; see ``MessageSlice/hasTickets``.
        private var ticketedCount = 0
        /// The batch that the reader took last; empty if all messages of the batch may be dropped.
        private(set) var hand: [MessageSlice] = []
        var waker: Waker?
        var end: CourierError?
        var isEnded = false
        var isClosed = false
        var isFull = false

        mutating func append(_ slice: MessageSlice) {
            guard !slice.isEmpty else { return }
            slices.append(slice)
            count += slice.count
            byteCount += slice.byteCount
            disposableCount += slice.disposableCount
            if slice.hasTickets { ticketedCount += 1 }
        }

        /// Drops the oldest messages of QoS 0, at most `limit`. Returns the number of dropped messages.
        mutating func dropOldest(_ limit: Int) -> Int {
            var left = min(limit, disposableCount)
            let dropped = left
            var index = first
            var emptyCount = 0
            while left > 0 {
                let bytesBefore = slices[index].byteCount
                left -= slices[index].dropOldest(left)
                byteCount -= bytesBefore - slices[index].byteCount
                if slices[index].isEmpty {
                    if index == first { passFirst() } else { emptyCount += 1 }
                }
                index += 1
            }
            count -= dropped
            disposableCount -= dropped
            removeEmpty(emptyCount, before: index)
            compact()
            return dropped
        }

        /// Removes and returns the next messages for the reader, at most `limit`.
        ///
        /// `areClaimed` is `true` if the reader claims each message before it uses the message. If `areClaimed` is
        /// `false`, a message that must be acknowledged is returned alone. So the later messages are still in the queue
        /// if the reader leaves after this message.
        mutating func takeNext(_ limit: Int, areClaimed: Bool) -> [MessageSlice] {
            let isBatch = areClaimed || ticketedCount == 0
            let taken = take(isBatch ? limit : min(limit, countAtOnce(limit)), bytes: handByteLimit)
            if !taken.areDisposable { hand = taken }
            return taken
        }

        mutating func emptyHand() {
            if !hand.isEmpty { hand = [] }
        }

        /// Returns the number of messages that the reader can take together: the messages before the first slice that
        /// may contain a message to acknowledge, but at least one. Stops counting at `limit`.
        private func countAtOnce(_ limit: Int) -> Int {
            var count = 0
            for slice in slices[first...] where !slice.isEmpty {
                if slice.hasTickets { return max(count, 1) }
                count += slice.count
                if count >= limit { return count }
            }
            return count
        }

        /// Removes and returns the first messages, at most `limit`. Stops when the removed messages have `byteLimit`
        /// bytes or more.
        mutating func take(_ limit: Int, bytes byteLimit: Int = .max) -> [MessageSlice] {
            if limit >= count, byteCount <= byteLimit {
                defer { removeAll() }
                return first == 0 ? slices : Array(slices[first...])
            }
            var taken: [MessageSlice] = []
            var left = min(limit, count)
            var bytesLeft = byteLimit
            while left > 0, bytesLeft > 0 {
                let slice = slices[first].takePrefix(left)
                if slices[first].isEmpty { passFirst() }
                left -= slice.count
                bytesLeft -= slice.byteCount
                count -= slice.count
                byteCount -= slice.byteCount
                disposableCount -= slice.disposableCount
                if !slice.isEmpty { taken.append(slice) }
            }
            compact()
            return taken
        }

        private mutating func removeAll() {
            (slices, first, count, byteCount, disposableCount, ticketedCount) = ([], 0, 0, 0, 0, 0)
        }

        private mutating func passFirst() {
            if slices[first].hasTickets { ticketedCount -= 1 }
            first += 1
        }

        /// Removes the empty slices before the index `end` if there are many. If there are few, each empty slice stays
        /// in the list until all earlier messages were taken.
        private mutating func removeEmpty(_ emptyCount: Int, before end: Int) {
            guard emptyCount > 0, emptyCount > 32 || emptyCount * 2 >= slices.count - first else { return }
            ticketedCount -= slices[first..<end].count { $0.isEmpty && $0.hasTickets }
            let rest = slices[first..<end].filter { !$0.isEmpty }
            slices.replaceSubrange(first..<end, with: rest)
        }

        private mutating func compact() {
            guard first > 32, first * 2 >= slices.count else { return }
            slices.removeFirst(first)
            first = 0
        }
    }

    /// The limits of the queue, and its policy when it is full.
    let buffer: ReadBuffer
    private let state = Mutex(State())
    /// Called on the reader's thread when a full queue has room again.
    private let drained: @Sendable () -> Void
    /// The number of messages that the reader has claimed from its hand, the batch that it took last. After the reader
    /// has left, the number is at least ``closedMark``.
    private let claimed = Atomic(0)
    private static let closedMark = Int.max / 2

    init(_ buffer: ReadBuffer, drained: @escaping @Sendable () -> Void) {
        self.buffer = buffer
        self.drained = drained
    }

    // MARK: Called on the event loop

    /// Adds a batch and empties `batch`, unless the queue has ended. `isOverrun` is `true` if the messages arrived
    /// although reading is paused. In this case, QoS 0 messages beyond twice the limit are dropped, even under the
    /// policy `pause`.
    func push(_ batch: inout [MessageSlice], isOverrun: Bool = false) -> Pushed {
        let (pushed, waker) = state.withLock { state -> (Pushed, Waker?) in
            var pushed = Pushed()
            guard !state.isEnded else {
                (pushed.isEnded, pushed.isClosed) = (true, state.isClosed)
                return (pushed, nil)
            }
            for slice in batch { pushed.dropped += append(slice, to: &state, isOverrun) }
            // At the limit, pause reading if the queue has messages that may not be dropped. These are all messages
            // under the policy `pause`, and messages of QoS 1 and 2 under every policy.
            if state.count >= buffer.limit || state.byteCount >= buffer.byteLimit,
                buffer.overflow == .pause || state.disposableCount < state.count
            {
                state.isFull = true
            }
            pushed.isFull = state.isFull
            pushed.isOverfull =
                state.count - buffer.limit >= buffer.limit || state.byteCount - buffer.byteLimit >= buffer.byteLimit
            defer { state.waker = nil }
            return (pushed, state.waker)
        }
        if !pushed.isEnded { batch.removeAll(keepingCapacity: true) }
        waker?()
        return pushed
    }

    /// Adds messages according to the overflow policy. Returns the number of dropped messages. The dropped messages may
    /// be waiting messages or new messages.
    private func append(_ slice: MessageSlice, to state: inout State, _ isOverrun: Bool) -> Int {
        let room = room(for: slice.count, in: state, isOverrun)
        switch buffer.overflow {
        case .pause, .dropNewest:
            guard slice.count > room else {
                state.append(slice)
                return 0
            }
            var slice = slice
            let dropped = slice.dropNewest(beyond: room)
            state.append(slice)
            return dropped
        case .dropOldest:
            state.append(slice)
            var dropped = slice.count > room ? state.dropOldest(slice.count - room) : 0
            while state.byteCount > buffer.byteLimit, state.disposableCount > 0, state.count > 1 {
                dropped += state.dropOldest(1)
            }
            return dropped
        }
    }

    /// Returns the number of QoS 0 messages that can be added when `count` new messages arrive. The number may be
    /// higher than `count`.
    private func room(for count: Int, in state: borrowing State, _ isOverrun: Bool) -> Int {
        let room = max(0, buffer.limit - state.count)
        switch buffer.overflow {
        case .dropOldest: return room
        case .dropNewest: return state.byteCount < buffer.byteLimit ? room : 0
        case .pause:
            guard isOverrun else { return count }
            guard state.byteCount - buffer.byteLimit < buffer.byteLimit else { return 0 }
            let spare = max(0, buffer.limit - max(0, state.count - buffer.limit))
            return min(room, count) + min(spare, count)
        }
    }

    /// Ends the queue. The reader receives the waiting messages, and then `error` if there is one. Only the first call
    /// has an effect.
    func finish(_ error: CourierError? = nil) {
        let waker = state.withLock { state -> Waker? in
            guard !state.isEnded else { return nil }
            state.isEnded = true
            state.end = error
            defer { state.waker = nil }
            return state.waker
        }
        waker?()
    }

    // MARK: Called by the reader

    /// The result of ``take(atMost:)``.
    enum Taken {
        case messages([MessageSlice])
        case nothing
        case ended(CourierError?)
    }

    /// Removes and returns the next waiting messages, at most `limit`. Before this call, the reader must have finished
    /// its previous batch.
    ///
    /// If `areClaimed` is `false`, a message that must be acknowledged is returned alone. If `areClaimed` is `true`,
    /// the reader must claim each message before it uses the message.
    func take(atMost limit: Int, areClaimed: Bool = false) -> Taken {
        let (taken, wasFull) = state.withLock { state -> (Taken, Bool) in
            state.emptyHand()
            guard state.count > 0 else {
                if state.isEnded {
                    defer { state.end = nil }  // An error is returned only once.
                    return (.ended(state.end), false)
                }
                return (.nothing, false)
            }
            claimed.store(0, ordering: .relaxed)
            let taken = Taken.messages(state.takeNext(limit, areClaimed: areClaimed))
            guard state.isFull, state.count <= buffer.limit / 2, state.byteCount <= buffer.byteLimit / 2 else {
                return (taken, false)
            }
            state.isFull = false
            return (taken, true)
        }
        if wasFull { drained() }
        return taken
    }

    /// Claims the next `count` messages of the hand, the batch that the reader took last. Returns `false` if the reader
    /// has left and `close()` has already returned these messages.
    func claim(_ count: Int = 1) -> Bool {
        claimed.add(count, ordering: .relaxed).oldValue < Self.closedMark
    }

    /// Calls `waker` when messages arrive or the queue ends. Returns `false`, and does not call `waker`, if messages
    /// already wait or the queue has already ended.
    func wake(_ waker: @escaping Waker) -> Bool {
        state.withLock { state in
            guard state.count == 0, !state.isEnded else { return false }
            state.waker = waker
            return true
        }
    }

    /// Closes the queue after the reader has left. Returns the messages that still wait, and the unclaimed messages of
    /// the batch that the reader took last. The waker is not called any more.
    func close() -> [MessageSlice] {
        let (left, wasFull) = state.withLock { state in
            let left = state.hand.dropping(claimed.exchange(Self.closedMark, ordering: .relaxed)) + state.take(.max)
            let wasFull = state.isFull
            state = State()
            (state.isEnded, state.isClosed) = (true, true)
            return (left, wasFull)
        }
        if wasFull { drained() }
        return left
    }
}
