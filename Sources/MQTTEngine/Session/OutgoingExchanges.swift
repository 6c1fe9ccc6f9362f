import MQTTCodec

/// The exchanges (messages and requests) that the client started and the server has not finished, in a table with one
/// entry for each packet id.
///
/// An id is either free or in use, so no new packet can use an id that is in flight ([MQTT-2.2.1-3]). The entries of
/// the table contain no object references, so that processing an acknowledgement needs no reference counting.
struct OutgoingExchanges {
    /// The kind of an exchange: the packet that it waits for.
    enum Kind: Hashable {
        /// A QoS 1 PUBLISH waits for PUBACK.
        case untilPubAck
        /// A QoS 2 PUBLISH waits until PUBREL and PUBCOMP have freed its packet id. An earlier process may have left
        /// the id in use; see ``UnknownSession``.
        case untilCleared
        /// A QoS 2 PUBLISH waits for PUBREC.
        case untilPubRec
        /// A QoS 2 message whose PUBREC arrived waits for PUBCOMP, the reply to PUBREL.
        case untilPubComp
        /// A QoS 2 message was given up after its PUBLISH was written. Its id is not used until PUBREL and PUBCOMP have
        /// freed it. Otherwise, a server that has the message would treat a new message with this id as a repetition.
        /// The end of this exchange is not reported.
        case untilFreed
        /// The caller gave up a QoS 2 message. Its id stays reserved until the session ends, and no packet uses the id.
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

        /// The type of the packet that the exchange sent last.
        var sentPacket: PacketType {
            switch self {
            case .untilPubAck, .untilPubRec: .publish
            case .untilCleared, .untilPubComp, .untilFreed, .untilSessionEnds: .pubRel
            case .untilSubAck: .subscribe
            case .untilUnsubAck: .unsubscribe
            }
        }

        /// True if the message was given up, so that the end of the exchange is not reported.
        var isGivenUp: Bool { self == .untilFreed || self == .untilSessionEnds }
    }

    /// One exchange, from its first packet to its end.
    struct Exchange {
        // The order of the fields makes the struct as small as possible.

        let token: Token
        /// The position of this exchange among all exchanges. Until PUBREC arrives, exchanges are ordered by their
        /// beginning, because messages are sent again in this order ([MQTT-4.6.0-1]). After PUBREC, exchanges are
        /// ordered by their PUBRECs, because PUBRELs are sent in this order ([MQTT-4.6.0-4]).
        var order: UInt64
        /// The message to send again; `nil` if PUBLISH is never sent again. When an exchange ends, the caller must
        /// discard its message.
        var message: MessageMemory.Place?
        /// The time when the exchange's last packet was written on this connection; `nil` while its next packet waits
        /// to be sent.
        var sentAt: MonotonicInstant?
        var kind: Kind
        /// True if the exchange counts toward the server's receive maximum on this connection.
        var holdsQuota: Bool
        /// True if the next packet waits until the caller has stored the current step.
        var isHeld = false
        /// True if PUBLISH may have been written on any connection. If so, the next PUBLISH is a repetition with the
        /// DUP flag.
        var isWritten: Bool
    }

    /// The maximum length of the table, which is the highest packet id.
    static let largestTable = Int(UInt16.max)

    /// The exchange of each packet id, at index `id - 1`; `nil` if the id is free.
    private var table: [Exchange?] = []
    private var ids = OutgoingPacketIDs()
    private var nextOrder: UInt64 = 0
    /// The number of exchanges.
    private(set) var count = 0
    /// The number of exchanges whose kind is ``Kind/untilFreed``.
    private var givenUpCount: UInt16 = 0
    /// The number of exchanges whose kind is ``Kind/untilSessionEnds``.
    private(set) var reservedCount = 0

    /// True if at least one exchange (message or request) will report its end.
    var isAnyoneWaiting: Bool { count > Int(givenUpCount) + reservedCount }

    /// The number of free packet ids.
    var freeIDCount: Int { Self.largestTable &- count }

    /// Starts an exchange (a message or a request), and returns its packet id, or `nil` if all ids are in use.
    mutating func begin(
        _ kind: Kind, _ token: Token, _ message: MessageMemory.Place?, at now: MonotonicInstant, isHeld: Bool = false
    ) -> PacketID? {
        guard let id = ids.take() else { return nil }
        let exchange = Exchange(
            token: token, order: nextOrder, message: message, sentAt: isHeld ? nil : now, kind: kind,
            holdsQuota: kind.isPublish, isHeld: isHeld, isWritten: !isHeld)
        let index = Self.index(id)
        if index < table.count { table[index] = exchange } else { table.append(exchange) }
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
        ids.release(id)
        count &-= 1
        if exchange.kind == .untilFreed { givenUpCount &-= 1 }
        if exchange.kind == .untilSessionEnds { reservedCount -= 1 }
        return exchange
    }

    /// Frees the memory of the table if it contains no exchange. New ids then start at 1 again.
    mutating func trim() {
        guard count == 0 else { return }
        table = []
        ids.releaseAll()
    }

    /// Returns the kind of the exchange with this packet id, or `nil` if the id is free.
    func kind(of id: PacketID) -> Kind? {
        let index = Self.index(id)
        return index < table.count ? table[index]?.kind : nil
    }

    func exchange(of id: PacketID) -> Exchange? {
        let index = Self.index(id)
        return index < table.count ? table[index] : nil
    }

    /// Records that PUBREC arrived. PUBREL is written at `now`, or later if the caller must first store this step
    /// (`isHeld`). Returns the exchange before this change. The caller must discard its message.
    mutating func advanceToPubComp(_ id: PacketID, at now: MonotonicInstant, isHeld: Bool = false) -> Exchange? {
        let index = Self.index(id)
        guard index < table.count, let exchange = table[index] else { return nil }
        table[index]?.kind = .untilPubComp
        table[index]?.order = nextOrder
        nextOrder &+= 1
        table[index]?.sentAt = isHeld ? nil : now
        table[index]?.isHeld = isHeld
        table[index]?.message = nil
        return exchange
    }

    /// Records that a message was given up, although the server may have received it. Returns the exchange before this
    /// change.
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

    /// Reserves the id of an exchange until the session ends. Returns the exchange before this change.
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

    /// Returns the packet id of the message with this token. Searches all exchanges.
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

    /// Records that a new QoS 2 exchange waits until PUBREL has freed its id.
    mutating func waitUntilCleared(_ id: PacketID) {
        let index = Self.index(id)
        guard index < table.count else { return }
        table[index]?.kind = .untilCleared
        table[index]?.isHeld = false
        table[index]?.isWritten = false
    }

    /// Records that PUBREL has freed the id, so that PUBLISH follows. If `isHeld` is true, PUBLISH waits until the
    /// caller has stored that the message is sent with this id.
    mutating func wasCleared(_ id: PacketID, isHeld: Bool) {
        let index = Self.index(id)
        guard index < table.count else { return }
        table[index]?.kind = .untilPubRec
        table[index]?.isHeld = isHeld
        if isHeld { table[index]?.sentAt = nil }
    }

    /// Allows an exchange to send its next packet, because the caller has stored the last step, and returns the
    /// exchange. Returns `nil` if the exchange does not wait for the caller or has another token.
    mutating func release(_ id: PacketID, _ token: Token) -> Exchange? {
        let index = Self.index(id)
        guard index < table.count, let exchange = table[index], exchange.isHeld, exchange.token == token else {
            return nil
        }
        table[index]?.isHeld = false
        return exchange
    }

    /// Restores exchanges of an earlier process, in their order, into an empty table. If an id occurs twice, only its
    /// first exchange is restored. Returns for each exchange whether it was restored.
    mutating func restore(
        _ exchanges: [(id: PacketID, kind: Kind, token: Token, message: MessageMemory.Place?)]
    ) -> [Bool] {
        precondition(count == 0, "restored into exchanges")
        table = [Exchange?](repeating: nil, count: exchanges.lazy.map { Int($0.id.rawValue) }.max() ?? 0)
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
        ids.restore(upTo: UInt16(table.count)) { table[Self.index($0)] != nil }
        return taken
    }

    /// Records that the exchange counts toward the server's receive maximum on this connection.
    mutating func markHoldsQuota(_ id: PacketID) {
        let index = Self.index(id)
        guard index < table.count else { return }
        table[index]?.holdsQuota = true
    }

    /// Records that the PUBLISH of this exchange was written at `now`. The exchange already counts toward the server's
    /// receive maximum.
    mutating func markPublished(_ id: PacketID, at now: MonotonicInstant) {
        let index = Self.index(id)
        guard index < table.count else { return }
        table[index]?.sentAt = now
        table[index]?.isWritten = true
    }

    /// Records that PUBREL was written at `now`.
    mutating func markReleased(_ id: PacketID, at now: MonotonicInstant) {
        let index = Self.index(id)
        guard index < table.count else { return }
        table[index]?.sentAt = now
    }

    /// Resets all exchanges (messages and requests) after the connection ended. Their last packets count as not sent,
    /// and they no longer count toward the server's receive maximum.
    mutating func connectionLost() {
        for index in table.indices {
            table[index]?.sentAt = nil
            table[index]?.holdsQuota = false
        }
    }

    /// Restarts the acknowledgement timeout at `now` for each exchange that waits for an answer.
    mutating func restartClocks(at now: MonotonicInstant) {
        for index in table.indices where table[index]?.sentAt != nil { table[index]?.sentAt = now }
    }

    /// Returns the packet ids of all exchanges, sorted by ``Exchange/order``.
    func idsInOrder() -> [PacketID] {
        let used = table.indices.compactMap { index in table[index].map { (order: $0.order, index: index) } }
        return used.sorted { $0.order < $1.order }.compactMap { PacketID(rawValue: UInt16($0.index + 1)) }
    }

    /// Returns the oldest packet that waits for an answer; `nil` if no packet waits.
    func oldestUnanswered() -> (type: PacketType, id: PacketID, sentAt: MonotonicInstant)? {
        var oldest: (index: Int, kind: Kind, sentAt: MonotonicInstant)?
        for index in table.indices {
            guard let exchange = table[index], let sentAt = exchange.sentAt else { continue }
            if let oldest, oldest.sentAt <= sentAt { continue }
            oldest = (index, exchange.kind, sentAt)
        }
        guard let oldest, let id = PacketID(rawValue: UInt16(oldest.index + 1)) else { return nil }
        return (oldest.kind.sentPacket, id, oldest.sentAt)
    }

    private static func index(_ id: PacketID) -> Int { Int(id.rawValue) - 1 }
}
