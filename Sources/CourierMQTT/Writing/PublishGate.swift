import CourierCore
import MQTTCodec
import MQTTEngine
import Synchronization

/// The way of a message from its caller to the session: straight while there is a connection and room, else through the
/// ``OfflineQueue``, and in order in any case.
///
/// ```
/// closed ──connected, queue drained──▶ open ──session full, or connection lost──▶ closed
/// ```
final class PublishGate: Sendable {
    typealias Instant = ContinuousClock.Instant

    /// What became of a message.
    enum Admission {
        /// It was handed to the session.
        case delivered
        /// It waits.
        case queued
        /// It was given up as the policy says, and whoever is known by its token was told.
        case givenUp
        /// There is no room; ``roomWaiter(_:for:)`` waits for some.
        case full
        /// There is no connection, or a session that ends, and it is not one that waits for the next.
        case offline
        /// Its session was given up.
        case late

        /// Whether it went out, or has its place in the queue.
        var isTaken: Bool { self == .delivered || self == .queued }

        init(_ fate: OfflineQueue.Fate) {
            switch fate {
            case .taken: self = .queued
            case .givenUp: self = .givenUp
            case .refused: self = .full
            }
        }
    }

    /// Hands the parts of a message to the session that it is of; `isDirect` says that no lock is held.
    typealias Deliver =
        @Sendable (
            OutgoingHeader, _ topic: String, _ payload: RawSpan, PacketProperties, _ session: Int, _ isDirect: Bool
        ) -> Bool

    /// Messages that ended in the queue, each with the reason.
    typealias Ended = [(token: Token, code: CourierError.Code)]

    private struct RoomWaiter {
        let waiter: Waiter<Void>
        /// For how many bytes it waits.
        let size: Int
        /// Whether there is a message of that size, and not only somebody who may publish next.
        let hasMessage: Bool
    }

    private struct State {
        var queue: OfflineQueue
        var isConnected = false
        /// Whether the session had no room for the last message; it tells when it has.
        var isSessionFull = false
        /// How many sessions are being given up; until that is done, messages wait for the next one.
        var holds = 0
        /// When the caller knows to look for messages that have waited too long.
        var expiryCheck: Instant?
        /// Who waits for room.
        var roomWaiters: [RoomWaiter] = []
        /// How large the message was that was refused last, until there is room for it or somebody waits for that.
        var refusedSize: Int?

        var hasRoom: Bool { queue.hasRoom && !isSessionFull }

        /// Takes out what has waited too long.
        mutating func takeExpired(now: Instant) -> [Token] {
            let expired = queue.removeExpired(now: now)
            expiryCheck = queue.nextExpiry
            return expired
        }

        /// Whether a message of so many bytes would be taken: a session takes one of any size.
        func takes(_ size: Int, isOpen: Bool) -> Bool { !isSessionFull && (isOpen || queue.fits(size)) }

        /// Whether those who wait for room are woken when there is some. While messages go out, that is once at most
        /// half of what may wait does, and not for each of them.
        var wakesWaiters: Bool { !isSessionFull && (!isConnected || queue.hasRoom) }

        /// Whether it is time to wake who waits for room for so many bytes.
        func hasRoom(for size: Int, isOpen: Bool) -> Bool { wakesWaiters && takes(size, isOpen: isOpen) }

        /// Those who wait for room that is there, in their order. A place that one's message will take is none for the
        /// next.
        mutating func takeRoomWaiters(isOpen: Bool) -> [Waiter<Void>] {
            if let size = refusedSize, hasRoom(for: size, isOpen: isOpen) { refusedSize = nil }
            guard wakesWaiters, !roomWaiters.isEmpty else { return [] }
            var left: [RoomWaiter] = []
            var woken: [Waiter<Void>] = []
            var coming = (count: 0, byteCount: 0)
            for one in roomWaiters {
                guard isOpen || queue.fits(one.size, beside: coming.count, coming.byteCount) else {
                    left.append(one)
                    continue
                }
                woken.append(one.waiter)
                if one.hasMessage { coming = (coming.count + 1, coming.byteCount + one.size) }
            }
            roomWaiters = left
            return woken
        }
    }

    private let sharedPolicy: Shared<OfflinePolicy>
    private let isOpen = Atomic(false)
    /// How many sessions were given up; changed under the lock.
    private let givenUp = Atomic(0)
    private let state: Mutex<State>
    private let now: @Sendable () -> Instant
    /// Hands a message to the session; `false` when it has no room, or was given up. From any thread, also under our
    /// lock.
    private let deliver: Deliver
    /// Says of which session messages are taken from now on. Under our lock.
    private let begin: @Sendable (_ session: Int) -> Void
    /// Asks for ``drain(_:)`` on the loop soon.
    private let requestDrain: @Sendable () -> Void
    /// Asks for ``removeExpired(now:)`` on the loop soon: a message will expire before any other.
    private let requestExpiryCheck: @Sendable () -> Void
    /// Told what ended in the queue, without a lock held.
    private let ended: @Sendable (Ended) -> Void

    init(
        _ policy: OfflinePolicy, now: @escaping @Sendable () -> Instant, deliver: @escaping Deliver,
        begin: @escaping @Sendable (_ session: Int) -> Void = { _ in },
        requestDrain: @escaping @Sendable () -> Void, requestExpiryCheck: @escaping @Sendable () -> Void = {},
        ended: @escaping @Sendable (Ended) -> Void
    ) {
        sharedPolicy = Self.policies.share(policy)
        self.now = now
        self.deliver = deliver
        self.begin = begin
        self.requestDrain = requestDrain
        self.requestExpiryCheck = requestExpiryCheck
        self.ended = ended
        state = Mutex(State(queue: OfflineQueue(sharedPolicy)))
    }

    private static let policies = Shared<OfflinePolicy>.Memory()

    var policy: OfflinePolicy { sharedPolicy.value }

    // MARK: From any thread

    /// How many messages wait.
    var waitingCount: Int { state.withLock { $0.queue.count } }

    /// Whether at most half of what may wait does, and the session is not full.
    var hasRoom: Bool { state.withLock { $0.hasRoom } }

    /// Whether messages pass straight on.
    var isPassable: Bool { isOpen.load(ordering: .acquiring) }

    /// The present session, by how many were given up before it. Who publishes asks for it before asking whether there
    /// is a session: then none that begins or ends later gets the message.
    var session: Int { givenUp.load(ordering: .acquiring) }

    /// Hands a message to its session; `false` when that has no room or was given up, or messages do not pass straight
    /// on.
    func pass(
        _ header: OutgoingHeader, _ topic: String, _ payload: RawSpan, _ properties: PacketProperties,
        of session: Int
    ) -> Bool {
        isPassable && deliver(header, topic, payload, properties, session, true)
    }

    /// Takes a message of a session, the present one by default, if there is room; `overflow` says what happens
    /// otherwise, and is the policy's by default. What a store has belongs to the present session, and is not taken
    /// while that is given up; nor is it given up for a later message. It waits until `giveUpAt` at most. Of two to a
    /// topic of which only the latest counts, the one with the lower `stamp` is replaced, the first of equal ones.
    func submit(
        _ message: OutgoingMessage, of session: Int? = nil, isLatestOnly: Bool,
        overflow: OfflinePolicy.Overflow? = nil, isStored: Bool = false, stamp: UInt64 = 0, giveUpAt: Instant? = nil
    ) -> Admission {
        let session = session ?? self.session
        let overflow = overflow ?? policy.overflow
        if isPassable {
            if handOver(message, session) { return .delivered }
            if overflow.refusesNewest, let admission = submitToFullSession(message, session) { return admission }
        }
        var needsDrain = false
        var needsExpiryCheck = false
        var waiters: [Waiter<Void>] = []
        let (admission, verdict) = state.withLock { state -> (Admission, OfflineQueue.Verdict) in
            guard session == self.session else { return (.late, OfflineQueue.Verdict()) }
            let isHeld = state.holds > 0
            let needsConnection = message.qos == .atMostOnce && !policy.queuesQoS0
            if isHeld && isStored || needsConnection && (isHeld || !state.isConnected) {
                return (.offline, OfflineQueue.Verdict())
            }
            isOpen.store(false, ordering: .releasing)
            let verdict = state.queue.append(
                message, isLatestOnly: isLatestOnly, isStored: isStored, stamp: stamp, giveUpAt: giveUpAt, overflow,
                now: now())
            needsDrain = state.isConnected && !isHeld
            if let end = verdict.giveUpAt, state.expiryCheck.map({ end < $0 }) ?? true {
                state.expiryCheck = end
                needsExpiryCheck = true
            }
            // What ended may have been larger than what came for it.
            if !verdict.ended.isEmpty { waiters = state.takeRoomWaiters(isOpen: false) }
            return (Admission(verdict.fate), verdict)
        }
        if !verdict.ended.isEmpty { ended(verdict.ended) }
        for waiter in waiters { waiter.resume(.success(())) }
        if needsDrain { requestDrain() }
        if needsExpiryCheck { requestExpiryCheck() }
        return admission
    }

    private func handOver(_ message: OutgoingMessage, _ session: Int) -> Bool {
        deliver(message.header, message.topic, message.payload.span.bytes, message.properties, session, false)
    }

    /// The session is connected and full: it has room again sooner than a queue in front of it would help. `nil` when
    /// messages do not pass straight on any more.
    ///
    /// It may have made room before it was noted that it had none, and would not say so again: so it is asked once more.
    private func submitToFullSession(_ message: OutgoingMessage, _ session: Int) -> Admission? {
        state.withLock { state in
            guard isPassable, session == self.session else { return nil }
            state.isSessionFull = !handOver(message, session)
            return state.isSessionFull ? .full : .delivered
        }
    }

    /// A waiter that is resumed when there is room for a message of so many bytes; at once if there is.
    func roomWaiter(_ census: WaiterCensus, for size: Int) -> Waiter<Void> {
        let waiter = Waiter<Void>(census)
        let hasRoom = state.withLock { state in
            if state.hasRoom(for: size, isOpen: isPassable) { return true }
            state.roomWaiters.append(RoomWaiter(waiter: waiter, size: size, hasMessage: true))
            return false
        }
        if hasRoom { waiter.resume(.success(())) }
        return waiter
    }

    /// A message of so many bytes was refused for want of room, as its publisher was told.
    func noteRefusal(of size: Int) {
        state.withLock { state in
            if !state.hasRoom(for: size, isOpen: isPassable) { state.refusedSize = size }
        }
    }

    /// A waiter of somebody who may publish next. The first one after a refusal waits for room for a message of that
    /// size. Else it is resumed at once if any message would be taken; `needsRoom` says whether that matters.
    func readyWaiter(_ census: WaiterCensus, needsRoom: Bool) -> Waiter<Void> {
        let waiter = Waiter<Void>(census)
        let isReady = state.withLock { state in
            let (refused, isOpen) = (state.refusedSize, isPassable)
            state.refusedSize = nil
            let size = refused ?? OfflineQueue.smallestSize
            if refused == nil, !needsRoom || state.takes(size, isOpen: isOpen) { return true }
            if refused != nil, state.hasRoom(for: size, isOpen: isOpen) { return true }
            state.roomWaiters.append(RoomWaiter(waiter: waiter, size: size, hasMessage: false))
            return false
        }
        if isReady { waiter.resume(.success(())) }
        return waiter
    }

    /// Gives a place to the next ones, for which somebody was woken who does not take it.
    func passOnRoom() {
        let woken = state.withLock { state in state.takeRoomWaiters(isOpen: isPassable) }
        for waiter in woken { waiter.resume(.success(())) }
    }

    /// Forgets a waiter that waits no more.
    func forget(_ waiter: Waiter<Void>) {
        state.withLock { state in state.roomWaiters.removeAll { $0.waiter === waiter } }
    }

    /// The session is given up, and takes nothing more: what comes from now on belongs to the next one, and waits until
    /// ``release()``.
    func hold() {
        state.withLock { state in
            state.holds += 1
            state.isSessionFull = false
            isOpen.store(false, ordering: .releasing)
            begin(givenUp.add(1, ordering: .releasing).newValue)
        }
    }

    // MARK: On the loop

    /// The session that ``hold()`` spoke of is gone, and its connection carries no more messages.
    func release() {
        state.withLock { state in
            state.holds -= 1
            state.isConnected = false
        }
    }

    /// Messages may go out now: those that wait first.
    func connected() {
        state.withLock { $0.isConnected = true }
        requestDrain()
    }

    /// Messages wait from now on, in the queue: whether the session is full does not matter to them.
    func disconnected() {
        let waiters = state.withLock { state in
            state.isConnected = false
            state.isSessionFull = false
            isOpen.store(false, ordering: .releasing)
            return state.takeRoomWaiters(isOpen: false)
        }
        for waiter in waiters { waiter.resume(.success(())) }
    }

    /// Ends the waiting message to a topic that a newer one may replace, if there is one and it is older than one that
    /// waits in the store.
    ///
    /// - Returns: `false` if it is the newer one.
    func replaceLatest(to topic: String, before stamp: UInt64) -> Bool {
        var waiters: [Waiter<Void>] = []
        let (token, isNewer) = state.withLock { state -> (Token?, Bool) in
            // What waits while a session is given up is the next one's.
            guard state.holds == 0, let waiting = state.queue.latestStamp(to: topic) else { return (nil, false) }
            if stamp < waiting { return (nil, true) }
            let token = state.queue.removeLatest(to: topic)
            waiters = state.takeRoomWaiters(isOpen: isPassable)
            return (token, false)
        }
        if let token { ended([(token, .messageReplaced)]) }
        for waiter in waiters { waiter.resume(.success(())) }
        return !isNewer
    }

    /// What ``drain(_:)`` came to.
    enum Drained {
        /// Nothing waits; messages pass straight on.
        case opened
        /// The given number of messages went out, and more wait.
        case hasMore
        /// The session is full, or there is no connection.
        case blocked
    }

    /// Hands at most `limit` waiting messages to the session, and ends what has waited too long.
    func drain(_ limit: Int) -> Drained {
        let (expired, drained, waiters) = state.withLock { state -> ([Token], Drained, [Waiter<Void>]) in
            state.isSessionFull = false
            // The session knows of a message's own expiry only.
            let isAnyOver = state.expiryCheck.map { $0 <= now() } ?? false
            let expired = isAnyOver ? state.takeExpired(now: now()) : []
            let drained = drain(limit, &state)
            return (expired, drained, state.takeRoomWaiters(isOpen: isPassable))
        }
        if !expired.isEmpty { ended(expired.map { ($0, .messageExpired) }) }
        for waiter in waiters { waiter.resume(.success(())) }
        return drained
    }

    private func drain(_ limit: Int, _ state: inout State) -> Drained {
        guard state.isConnected, state.holds == 0 else { return .blocked }
        for _ in 0..<max(limit, 1) {
            guard let message = state.queue.first else {
                isOpen.store(true, ordering: .releasing)
                return .opened
            }
            guard handOver(message, session) else { return .blocked }
            state.queue.popFirst()
        }
        return .hasMore
    }

    /// Ends what has waited too long, and says when the next one will have.
    func removeExpired(now: Instant) -> Instant? {
        let (expired, next, waiters) = state.withLock { state in
            let expired = state.takeExpired(now: now)
            return (expired, state.expiryCheck, state.takeRoomWaiters(isOpen: isPassable))
        }
        if !expired.isEmpty { ended(expired.map { ($0, .messageExpired) }) }
        for waiter in waiters { waiter.resume(.success(())) }
        return next
    }

    /// Takes out everything that waits, which the caller ends.
    func takeAll() -> (tokens: [Token], roomWaiters: [Waiter<Void>]) {
        state.withLock { state in
            defer { (state.roomWaiters, state.refusedSize) = ([], nil) }
            return (state.queue.removeAll(), state.roomWaiters.map(\.waiter))
        }
    }
}
