import CourierCore
import MQTTEngine

/// The limits, overflow policies, ages and pacing of an ``OfflinePolicy``.
///
/// A value without locks and clocks: the queue asks when it accepts a message, when messages end, and on its timer. Counts
/// cover every accepted message that the session has never taken, wherever the message waits.
struct OutgoingRules {
    /// The verdict on a new message.
    enum Verdict {
        case accept
        /// The message is accepted after the oldest messages were dropped.
        case acceptAfterDropping
        /// The caller learns that there is no room.
        case refuse
        /// The new message ends with `queueFull`.
        case dropNewest
        /// The message is larger than everything that may wait together.
        case tooLarge
    }

    /// The number and bytes of messages.
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
    /// Whether the broker has accepted the connection.
    private(set) var isConnected = false
    /// The messages that count toward the limits.
    private(set) var waiting = Amount()
    /// The part of ``waiting`` that ``OfflinePolicy/Overflow/dropOldest`` may drop.
    private(set) var droppable = Amount()
    /// Rows of an earlier process that were not read yet; ``waiting`` includes them.
    private(set) var unreadCount = 0
    /// Callers that wait for room, in order.
    private var roomWaiters: [RoomWaiter] = []
    /// The size of the message that was refused last, until there is room for it or a caller waits for that room.
    private var refusedSize: Int?
    /// Whether no message went out on the present connection.
    private(set) var awaitsPace = false
    private var pace: Pace?

    private struct RoomWaiter {
        let waiter: Waiter<Void>
        let byteCount: Int
        /// False for callers of `readyToPublish()`, which have no message yet.
        var hasMessage = true
        /// Whether the message does not wait for a connection.
        var needsConnection = false
    }

    /// How the messages go out that waited when the connection came.
    private struct Pace {
        /// How many of these messages still wait.
        var left: Int
        /// How many messages may go out before ``next``.
        var budget: Int
        var next: MonotonicInstant
    }

    init(_ policy: OfflinePolicy) { self.policy = policy }

    private var maximumCount: Int { max(policy.maximumCount, 1) }
    private var maximumBytes: Int { max(policy.maximumBytes, 1) }

    // MARK: Limits

    /// The verdict on a new message, which would replace a waiting message of `replaced` bytes.
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

    /// Whether a message has room beside messages of this amount.
    private func fits(_ byteCount: Int, beside others: Amount) -> Bool {
        others.count < maximumCount && others.byteCount <= maximumBytes - byteCount
    }

    /// Whether a message has room now.
    func hasRoom(for byteCount: Int) -> Bool { fits(byteCount, beside: waiting) }

    /// Counts a message that waits from now on.
    mutating func count(_ byteCount: Int, isDroppable: Bool) {
        waiting = waiting + Amount(count: 1, byteCount: byteCount)
        if isDroppable { droppable = droppable + Amount(count: 1, byteCount: byteCount) }
    }

    /// No longer counts a message that ended, or that the session took for the first time.
    mutating func uncount(_ byteCount: Int, isDroppable: Bool) {
        waiting = waiting - Amount(count: 1, byteCount: byteCount)
        if isDroppable { droppable = droppable - Amount(count: 1, byteCount: byteCount) }
    }

    /// So many rows of an earlier process were not read yet.
    mutating func setUnread(_ count: Int) {
        waiting.count += max(count, 0) - unreadCount
        unreadCount = max(count, 0)
    }

    // MARK: Ages

    /// When a message has waited too long that the queue accepts now.
    @inline(__always)
    func endOfAge(acceptedAt now: MonotonicInstant) -> MonotonicInstant {
        policy.maximumAge.map { now.advanced(by: $0) } ?? .never
    }

    // MARK: Waiting for room

    /// Whether waiting callers are woken. With a connection they are woken when at most half of the limits is used, so that
    /// callers are not woken for each sent message.
    private var wakesWaiters: Bool {
        !isConnected || (waiting.count <= maximumCount / 2 && waiting.byteCount <= maximumBytes / 2)
    }

    /// Adds a caller that waits for room for its message; `false` if there is room already.
    mutating func wait(_ waiter: Waiter<Void>, for byteCount: Int, _ qos: QoS) -> Bool {
        let needsConnection = qos == .zero && !policy.queuesQoS0
        if wakesWaiters, hasRoom(for: byteCount) || (needsConnection && !isConnected) { return false }
        roomWaiters.append(RoomWaiter(waiter: waiter, byteCount: byteCount, needsConnection: needsConnection))
        return true
    }

    /// Adds a caller that wants to publish next; `false` if it can.
    ///
    /// The first such caller after a refusal waits for room for a message of the refused size.
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

    /// The size of a message without a payload to a topic of one byte.
    private static let smallestSize = 1

    /// A caller learned that there was no room.
    mutating func noteRefusal(of byteCount: Int) {
        if !(wakesWaiters && hasRoom(for: byteCount)) { refusedSize = byteCount }
    }

    mutating func forget(_ waiter: Waiter<Void>) { roomWaiters.removeAll { $0.waiter === waiter } }

    /// Removes and returns the callers that have room, in order. Room for one caller's message is not offered to the next.
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

    // MARK: The connection

    /// The broker has accepted the connection.
    mutating func connected() { (isConnected, awaitsPace) = (true, true) }

    /// Messages go out for the first time on a connection. If more messages wait than one batch has, they go out in batches.
    mutating func beginPace(waitingCount: Int, now: MonotonicInstant) {
        awaitsPace = false
        let batch = max(policy.drainCount, 1)
        pace = waitingCount > batch ? Pace(left: waitingCount, budget: batch, next: now) : nil
    }

    /// The connection is gone.
    ///
    /// - Returns: Callers whose messages do not wait for a connection.
    mutating func disconnected() -> [Waiter<Void>] {
        (isConnected, awaitsPace) = (false, false)
        pace = nil
        let lost = roomWaiters.filter(\.needsConnection).map(\.waiter)
        if !lost.isEmpty { roomWaiters.removeAll(where: \.needsConnection) }
        return lost
    }

    /// How many messages may go out now; `nil` for any number.
    mutating func pacedCount(now: MonotonicInstant) -> Int? {
        guard var pace else { return nil }
        if pace.budget == 0, now >= pace.next { pace.budget = max(policy.drainCount, 1) }
        self.pace = pace
        return pace.budget
    }

    /// When the next batch may go out, if the present one is used up.
    var nextBatch: MonotonicInstant? { pace.flatMap { $0.budget == 0 ? $0.next : nil } }

    /// Messages go out.
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
