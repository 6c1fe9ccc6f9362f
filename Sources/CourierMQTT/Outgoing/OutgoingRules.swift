import CourierCore
import MQTTEngine

/// Applies the limits, the overflow rule, the maximum age and the pacing of an ``OfflinePolicy``.
///
/// The value uses no lock and no clock. The queue calls it when a message is accepted, when messages end, and when the
/// expiry timer fires. The counts include each accepted message, in memory or in the store, that the session driver has
/// never taken.
struct OutgoingRules {
    /// The decision about a new message.
    enum Verdict {
        case accept
        /// The message is accepted after the oldest messages are dropped.
        case acceptAfterDropping
        /// The message is not accepted, because there is no room.
        case refuse
        /// The new message is dropped.
        case dropNewest
        /// The message alone is larger than the limit for the bytes of all waiting messages.
        case tooLarge
    }

    /// A number of messages, and the sum of their bytes.
    struct Amount {
        var count = 0
        var byteCount = 0

        static func + (left: Amount, right: Amount) -> Amount {
            Amount(count: left.count + right.count, byteCount: left.byteCount + right.byteCount)
        }

        static func - (left: Amount, right: Amount) -> Amount {
            Amount(count: left.count - right.count, byteCount: left.byteCount - right.byteCount)
        }
    }

    let policy: OfflinePolicy
    /// True while there is a connection that the broker has accepted.
    private(set) var isConnected = false
    /// The number and the bytes of the messages that count toward the limits.
    private(set) var waiting = Amount()
    /// The part of ``waiting`` that ``OfflinePolicy/Overflow/dropOldest`` may drop.
    private(set) var droppable = Amount()
    /// The number of messages of an earlier process that are not read from the store yet. ``waiting`` includes these
    /// messages.
    private(set) var unreadCount = 0
    /// Callers that wait for room, in the order of their calls.
    private var roomWaiters: [RoomWaiter] = []
    /// The size of the message that was refused last. The value becomes `nil` when there is room for this size, or when
    /// a caller begins to wait for such room.
    private var refusedSize: Int?
    /// True from the beginning of a connection until the queue first takes messages for this connection.
    private(set) var awaitsPace = false
    private var pace: Pace?

    /// A caller that waits for room.
    private struct RoomWaiter {
        let waiter: Waiter<Void>
        let byteCount: Int
        /// False for a caller of `readyToPublish()`, which has no message yet.
        var hasMessage = true
        /// True if the message is refused, and does not wait, while there is no connection.
        var needsConnection = false
    }

    /// The progress of sending, in batches, the messages that waited when the connection began.
    private struct Pace {
        /// The number of messages that waited when the connection began and are not sent yet.
        var left: Int
        /// The number of messages that may be sent before the time ``next``.
        var budget: Int
        var next: MonotonicInstant
    }

    init(_ policy: OfflinePolicy) { self.policy = policy }

    private var maximumCount: Int { max(policy.maximumCount, 1) }
    private var maximumBytes: Int { max(policy.maximumBytes, 1) }

    // MARK: Limits

    /// Returns the decision about a new message. If the message replaces a waiting message, `replaced` is the size of
    /// that message.
    func verdict(for byteCount: Int, replacing replaced: Int?) -> Verdict {
        if byteCount > maximumBytes { return .tooLarge }
        let rest = waiting - Amount(count: replaced == nil ? 0 : 1, byteCount: replaced ?? 0)
        if fits(byteCount, beside: rest) { return .accept }
        switch policy.overflow {
        case .suspend, .fail: return .refuse
        case .dropNewest: return .dropNewest
        case .dropOldest: return fits(byteCount, beside: waiting - droppable) ? .acceptAfterDropping : .dropNewest
        }
    }

    /// Returns true if a message of this size fits into the limits together with the messages `others`.
    private func fits(_ byteCount: Int, beside others: Amount) -> Bool {
        others.count < maximumCount && others.byteCount <= maximumBytes - byteCount
    }

    /// Returns true if there is room for a message of this size now.
    func hasRoom(for byteCount: Int) -> Bool { fits(byteCount, beside: waiting) }

    /// Counts a message that waits from now on.
    mutating func count(_ byteCount: Int, isDroppable: Bool) {
        waiting = waiting + Amount(count: 1, byteCount: byteCount)
        if isDroppable { droppable = droppable + Amount(count: 1, byteCount: byteCount) }
    }

    /// Subtracts a message that ended, or that the session driver took for the first time.
    mutating func uncount(_ byteCount: Int, isDroppable: Bool) {
        waiting = waiting - Amount(count: 1, byteCount: byteCount)
        if isDroppable { droppable = droppable - Amount(count: 1, byteCount: byteCount) }
    }

    /// Sets the number of messages of an earlier process that are not read from the store yet.
    mutating func setUnread(_ count: Int) {
        waiting.count += max(count, 0) - unreadCount
        unreadCount = max(count, 0)
    }

    // MARK: Maximum age

    /// Returns the time when a message reaches the maximum age, if the queue accepts the message now.
    @inline(__always)
    func endOfAge(acceptedAt now: MonotonicInstant) -> MonotonicInstant {
        policy.maximumAge.map { now.advanced(by: $0) } ?? .never
    }

    // MARK: Waiting for room

    /// True if waiting callers may be woken now. While connected, callers are woken only when at most half of each
    /// limit is used. This wakes many callers together, instead of one caller after each sent message.
    private var wakesWaiters: Bool {
        !isConnected || (waiting.count <= maximumCount / 2 && waiting.byteCount <= maximumBytes / 2)
    }

    /// Adds a caller that waits for room for its message. Returns false in two cases, in which the caller must try
    /// again at once:
    ///
    /// - There is room now.
    /// - There is no connection, and the message may not wait for a connection.
    mutating func wait(_ waiter: Waiter<Void>, for byteCount: Int, _ qos: QoS) -> Bool {
        let needsConnection = qos == .zero && !policy.queuesQoS0
        if wakesWaiters, hasRoom(for: byteCount) || (needsConnection && !isConnected) { return false }
        roomWaiters.append(RoomWaiter(waiter: waiter, byteCount: byteCount, needsConnection: needsConnection))
        return true
    }

    /// Adds a caller of `readyToPublish()`. Returns false if the caller can publish now.
    ///
    /// If a message was refused before, the first caller waits for room for a message of the same size. Every other
    /// caller waits for room for a message of the smallest possible size.
    mutating func waitUntilReady(_ waiter: Waiter<Void>) -> Bool {
        let refused = refusedSize
        refusedSize = nil
        if let refused {
            if wakesWaiters, hasRoom(for: refused) { return false }
        } else if hasRoom(for: Self.smallestSize) {
            return false
        }
        roomWaiters.append(RoomWaiter(waiter: waiter, byteCount: refused ?? Self.smallestSize, hasMessage: false))
        return true
    }

    /// The smallest size of a message: a topic of one byte and no payload.
    private static let smallestSize = 1

    /// Records that a message of this size was refused, because there was no room.
    mutating func noteRefusal(of byteCount: Int) {
        if !(wakesWaiters && hasRoom(for: byteCount)) { refusedSize = byteCount }
    }

    mutating func forget(_ waiter: Waiter<Void>) { roomWaiters.removeAll { $0.waiter === waiter } }

    /// Removes and returns the callers whose message has room now, in the order of their calls. The room for one of
    /// these callers is reserved, so it does not count as free for the next caller.
    mutating func takeReadyWaiters() -> [Waiter<Void>] {
        if refusedSize == nil, roomWaiters.isEmpty { return [] }
        guard wakesWaiters else { return [] }
        if let size = refusedSize, hasRoom(for: size) { refusedSize = nil }
        var expected = Amount()
        var (ready, left): ([Waiter<Void>], [RoomWaiter]) = ([], [])
        for one in roomWaiters {
            guard fits(one.byteCount, beside: waiting + expected) else {
                left.append(one)
                continue
            }
            if one.hasMessage { expected = expected + Amount(count: 1, byteCount: one.byteCount) }
            ready.append(one.waiter)
        }
        roomWaiters = left
        return ready
    }

    /// Removes and returns all callers that wait for room.
    mutating func takeAllWaiters() -> [Waiter<Void>] {
        defer { (roomWaiters, refusedSize) = ([], nil) }
        return roomWaiters.map(\.waiter)
    }

    // MARK: Connections and batches

    /// Records that the broker accepted a connection.
    mutating func connected() { (isConnected, awaitsPace) = (true, true) }

    /// Begins sending messages on a new connection. If more messages wait than fit into one batch, the messages are
    /// sent in batches.
    mutating func beginPace(waitingCount: Int, now: MonotonicInstant) {
        awaitsPace = false
        let batch = max(policy.drainCount, 1)
        pace = waitingCount > batch ? Pace(left: waitingCount, budget: batch, next: now) : nil
    }

    /// Records that the connection ended.
    ///
    /// - Returns: The callers whose messages must not wait while there is no connection.
    mutating func disconnected() -> [Waiter<Void>] {
        (isConnected, awaitsPace) = (false, false)
        pace = nil
        let lost = roomWaiters.filter(\.needsConnection).map(\.waiter)
        if !lost.isEmpty { roomWaiters.removeAll(where: \.needsConnection) }
        return lost
    }

    /// Returns the number of messages that may be sent now; `nil` means any number.
    mutating func pacedCount(now: MonotonicInstant) -> Int? {
        guard var pace else { return nil }
        if pace.budget == 0, now >= pace.next { pace.budget = max(policy.drainCount, 1) }
        self.pace = pace
        return pace.budget
    }

    /// The time when the next batch may be sent; `nil` if the present batch is not finished, or if messages are not
    /// sent in batches.
    var nextBatch: MonotonicInstant? { pace.flatMap { $0.budget == 0 ? $0.next : nil } }

    /// Records that the session driver took `count` messages to send them.
    mutating func sent(_ count: Int, now: MonotonicInstant) {
        guard var pace, count > 0 else { return }
        pace.left -= count
        pace.budget -= count
        if pace.budget <= 0 {
            pace.budget = 0
            pace.next = now.advanced(by: policy.drainInterval)
        }
        self.pace = pace.left > 0 ? pace : nil
    }
}
