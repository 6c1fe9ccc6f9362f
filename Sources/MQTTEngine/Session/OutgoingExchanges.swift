import MQTTCodec

/// The exchanges that the client started and the server has not finished: a flat table by packet id.
///
/// An id is in the table or free, never both, so no packet can take one that is in flight ([MQTT-2.2.1-3]). Ids that
/// became free are used again in the order in which they did; the table is no longer than the most exchanges at a time.
/// Its entries are plain bytes: an acknowledgement counts no references.
struct OutgoingExchanges {
    enum Kind: Hashable {
        /// A QoS 1 PUBLISH waits for PUBACK.
        case untilPubAck
        /// A QoS 2 PUBLISH waits until PUBREL has ended what an earlier process may have left under the id; see
        /// ``UnknownSession``.
        case untilCleared
        /// A QoS 2 PUBLISH waits for PUBREC.
        case untilPubRec
        /// A QoS 2 PUBREL waits for PUBCOMP.
        case untilPubComp
        /// A QoS 2 message was given up after it had been written: its id waits for a PUBREL and its PUBCOMP, because a server
        /// that has it takes a new message under it for a repetition. Nobody is told of that end.
        case untilFreed
        /// The caller gave a QoS 2 message up: its id stays reserved until the session ends, and nothing is sent under it.
        case untilSessionEnds
        /// A SUBSCRIBE with this many filters waits for SUBACK.
        case untilSubAck(filterCount: UInt32)
        /// An UNSUBSCRIBE with this many filters waits for UNSUBACK.
        case untilUnsubAck(filterCount: UInt32)

        var isPublish: Bool {
            switch self {
            case .untilPubAck, .untilCleared, .untilPubRec, .untilPubComp, .untilFreed, .untilSessionEnds: true
            case .untilSubAck, .untilUnsubAck: false
            }
        }

        /// Whether the message was given up, so that no end of the exchange is reported.
        var isGivenUp: Bool { self == .untilFreed || self == .untilSessionEnds }
    }

    struct Exchange {
        // In the order in which they take the least room.

        let token: Token
        /// The order in which exchanges began; resending keeps it ([MQTT-4.6.0-1]).
        let order: UInt64
        /// What to send again; `nil` when that is never a PUBLISH. Whoever ends the exchange discards it.
        var message: MessageMemory.Place?
        /// When its last packet was written on this connection; `nil` while it waits to be sent again.
        var sentAt: MonotonicInstant?
        var kind: Kind
        /// Whether it counts against the server's receive maximum: it has had its turn on this connection.
        var holdsQuota: Bool
        /// Whether its next packet waits until the caller has stored that it comes.
        var isHeld = false
        /// Whether its PUBLISH may have been written, on whichever connection: the next one is a repetition.
        var isWritten: Bool
    }

    /// The highest packet id.
    static let largestTable = Int(UInt16.max)

    /// At index `id - 1`.
    private var table: [Exchange?] = []
    private var free = Ring<PacketID>()
    private var nextOrder: UInt64 = 0
    /// How many exchanges there are.
    private(set) var count = 0
    /// How many of them are ``Kind/untilFreed``.
    private var givenUpCount: UInt16 = 0
    /// How many of them are ``Kind/untilSessionEnds``.
    private(set) var reservedCount = 0

    /// Whether there are exchanges of which somebody waits to be told the end.
    var isAnyoneWaiting: Bool { count > Int(givenUpCount) + reservedCount }

    /// How many packet ids are free.
    var freeIDCount: Int { Self.largestTable &- count }

    /// Starts an exchange and returns its id, or `nil` when all are taken.
    mutating func begin(
        _ kind: Kind, _ token: Token, _ message: MessageMemory.Place?, at now: MonotonicInstant, isHeld: Bool = false
    ) -> PacketID? {
        let exchange = Exchange(
            token: token, order: nextOrder, message: message, sentAt: isHeld ? nil : now, kind: kind,
            holdsQuota: kind.isPublish, isHeld: isHeld, isWritten: !isHeld)
        if let id = free.popFirst() {
            table[Self.index(id)] = exchange
            nextOrder &+= 1
            count &+= 1
            return id
        }
        guard table.count < Self.largestTable, let id = PacketID(rawValue: UInt16(table.count + 1)) else { return nil }
        table.append(exchange)
        nextOrder &+= 1
        count &+= 1
        return id
    }

    /// Ends the exchange of `id` and returns it.
    @discardableResult
    mutating func end(_ id: PacketID) -> Exchange? {
        let index = Self.index(id)
        guard index < table.count, let exchange = table[index] else { return nil }
        table[index] = nil
        free.append(id)
        count &-= 1
        if exchange.kind == .untilFreed { givenUpCount &-= 1 }
        if exchange.kind == .untilSessionEnds { reservedCount -= 1 }
        return exchange
    }

    /// Gives back the memory of the table if it is empty; ids begin with 1 again.
    mutating func trim() {
        guard count == 0 else { return }
        table = []
        free = Ring()
    }

    /// What `id` waits for, or `nil` when it is free.
    func kind(of id: PacketID) -> Kind? {
        let index = Self.index(id)
        return index < table.count ? table[index]?.kind : nil
    }

    func exchange(of id: PacketID) -> Exchange? {
        let index = Self.index(id)
        return index < table.count ? table[index] : nil
    }

    /// Notes that PUBREC came and PUBREL goes out at `now`, unless it is held, and returns the exchange as it was: its
    /// message is needed no more.
    mutating func advanceToPubComp(_ id: PacketID, at now: MonotonicInstant, isHeld: Bool = false) -> Exchange? {
        let index = Self.index(id)
        guard index < table.count, let exchange = table[index] else { return nil }
        table[index]?.kind = .untilPubComp
        table[index]?.sentAt = isHeld ? nil : now
        table[index]?.isHeld = isHeld
        table[index]?.message = nil
        return exchange
    }

    /// Notes that the message of an exchange was given up, though the server may have it, and returns the exchange as it was.
    mutating func giveUp(_ id: PacketID, isHeld: Bool) -> Exchange? {
        let index = Self.index(id)
        guard index < table.count, let exchange = table[index] else { return nil }
        if exchange.kind != .untilFreed { givenUpCount &+= 1 }
        table[index]?.kind = .untilFreed
        table[index]?.isHeld = isHeld
        table[index]?.message = nil
        table[index]?.sentAt = nil
        return exchange
    }

    /// Reserves the id of an exchange until the session ends, and returns the exchange as it was.
    mutating func reserve(_ id: PacketID) -> Exchange? {
        let index = Self.index(id)
        guard index < table.count, let exchange = table[index] else { return nil }
        table[index]?.kind = .untilSessionEnds
        table[index]?.isHeld = false
        table[index]?.holdsQuota = false
        table[index]?.message = nil
        reservedCount += 1
        return exchange
    }

    /// The packet id of the message of `token`. Searches all exchanges.
    func id(of token: Token) -> PacketID? {
        let index = table.firstIndex {
            $0.map { $0.token == token && $0.kind.isPublish && !$0.kind.isGivenUp } ?? false
        }
        return index.flatMap { PacketID(rawValue: UInt16($0 + 1)) }
    }

    /// Calls `body` with each exchange whose last packet was written on this connection and has no answer.
    func forEachUnanswered(_ body: (Exchange, MonotonicInstant) -> Void) {
        for case let exchange? in table {
            if let sentAt = exchange.sentAt { body(exchange, sentAt) }
        }
    }

    /// Notes that an exchange of QoS 2 that has just begun waits until its id is cleared.
    mutating func waitUntilCleared(_ id: PacketID) {
        let index = Self.index(id)
        guard index < table.count else { return }
        table[index]?.kind = .untilCleared
        table[index]?.isHeld = false
        table[index]?.isWritten = false
    }

    /// Notes that the exchange continues with PUBLISH, now or, if it is held, when the caller has stored that it comes.
    mutating func wasCleared(_ id: PacketID, isHeld: Bool) {
        let index = Self.index(id)
        guard index < table.count else { return }
        table[index]?.kind = .untilPubRec
        table[index]?.isHeld = isHeld
        if isHeld { table[index]?.sentAt = nil }
    }

    /// Notes that the next packet of the exchange that `token` names need not wait any longer, and returns it.
    mutating func release(_ id: PacketID, _ token: Token) -> Exchange? {
        let index = Self.index(id)
        guard index < table.count, let exchange = table[index], exchange.isHeld, exchange.token == token else {
            return nil
        }
        table[index]?.isHeld = false
        return exchange
    }

    /// Takes over exchanges that an earlier process began, in their order, into an empty table. An id that comes twice is
    /// ignored the second time; says which were taken.
    mutating func restore(
        _ exchanges: [(id: PacketID, kind: Kind, token: Token, message: MessageMemory.Place?)]
    ) -> [Bool] {
        precondition(count == 0, "restored into exchanges")
        table = [Exchange?](repeating: nil, count: exchanges.lazy.map { Int($0.id.rawValue) }.max() ?? 0)
        free = Ring()
        let taken = exchanges.map { exchange in
            guard table[Self.index(exchange.id)] == nil else { return false }
            table[Self.index(exchange.id)] = Exchange(
                token: exchange.token, order: nextOrder, message: exchange.message, sentAt: nil, kind: exchange.kind,
                holdsQuota: false, isWritten: true)
            nextOrder &+= 1
            count &+= 1
            if exchange.kind == .untilSessionEnds { reservedCount += 1 }
            return true
        }
        for index in table.indices where table[index] == nil {
            if let id = PacketID(rawValue: UInt16(index + 1)) { free.append(id) }
        }
        return taken
    }

    /// Notes that the exchange has its turn on this connection, and counts against the server's receive maximum.
    mutating func markHoldsQuota(_ id: PacketID) {
        let index = Self.index(id)
        guard index < table.count else { return }
        table[index]?.holdsQuota = true
    }

    /// Notes that the PUBLISH of an exchange that holds quota was written at `now`.
    mutating func markPublished(_ id: PacketID, at now: MonotonicInstant) {
        let index = Self.index(id)
        guard index < table.count else { return }
        table[index]?.sentAt = now
        table[index]?.isWritten = true
    }

    /// Notes that PUBREL was written at `now`.
    mutating func markReleased(_ id: PacketID, at now: MonotonicInstant) {
        let index = Self.index(id)
        guard index < table.count else { return }
        table[index]?.sentAt = now
    }

    /// The connection is gone: everything waits to be sent again, and nothing counts against the next one's quota.
    mutating func connectionLost() {
        for index in table.indices {
            table[index]?.sentAt = nil
            table[index]?.holdsQuota = false
        }
    }

    /// Counts the time of everything that waits for an answer from `now`.
    mutating func restartClocks(at now: MonotonicInstant) {
        for index in table.indices where table[index]?.sentAt != nil { table[index]?.sentAt = now }
    }

    /// The ids of all exchanges in the order in which they began.
    func idsInOrder() -> [PacketID] {
        let used = table.indices.compactMap { index in table[index].map { (order: $0.order, index: index) } }
        return used.sorted { $0.order < $1.order }.compactMap { PacketID(rawValue: UInt16($0.index + 1)) }
    }

    /// When the packet was written that has waited longest for its answer; `nil` when none waits.
    func oldestSentAt() -> MonotonicInstant? { table.lazy.compactMap { $0?.sentAt }.min() }

    private static func index(_ id: PacketID) -> Int { Int(id.rawValue) - 1 }
}
