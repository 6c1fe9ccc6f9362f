import CourierCore
import Foundation

/// What a ``MemoryMessageStore`` holds, as a value: batches are applied to it or change nothing.
struct StoreContents: Sendable {
    /// The rows of one scope.
    struct Scope: Sendable {
        var outgoing = MessageRows<StoredOutgoing>()
        var incoming = MessageRows<StoredMessage>()
        var packetIDs: Set<UInt16> = []
        var subscriptions: [TopicFilter: StoredSubscription.Intent] = [:]
        var lastMessageID: StoredMessage.ID?
        var payloadBytes = 0
        /// What the rows count towards the limits.
        var size = StoreSize()
    }

    /// How a step is taken back.
    private enum Undo {
        case outgoing(StoredMessage.ID, StoredOutgoing?)
        case incoming(StoredMessage.ID, StoredMessage?)
        case expired([StoredMessage])
        case packetIDs(Set<UInt16>)
        case packetID(UInt16, wasThere: Bool)
        case subscription(TopicFilter, StoredSubscription.Intent?)
        case scope(Scope)
    }

    private let limit: StoreSize
    private var scopes: [StoreScope: Scope] = [:]
    private var size = StoreSize()

    init(limit: StoreSize) { self.limit = limit }

    subscript(scope: StoreScope) -> Scope { scopes[scope] ?? Scope() }

    /// Applies changes, all or none.
    mutating func apply(_ changes: [StoreChange], in name: StoreScope) throws(CourierError) {
        guard !changes.isEmpty else { return }
        var scope = scopes.removeValue(forKey: name) ?? Scope()  // Taken out, so that its rows are changed in place.
        defer { scopes[name] = scope }
        let before = scope.size
        let lastMessageID = scope.lastMessageID
        let mayNotFit = !(size + StoreSize(addedBy: changes)).fits(limit)
        var undo: [Undo] = []
        for change in changes {
            let step = Self.apply(change, to: &scope)
            if mayNotFit, let step { undo.append(step) }
        }
        let after = size - before + scope.size
        if mayNotFit, !after.fits(limit, atMost: size) {
            for step in undo.reversed() { Self.takeBack(step, in: &scope) }
            scope.lastMessageID = lastMessageID
            throw full(changes)
        }
        size = after
    }

    private func full(_ changes: [StoreChange]) -> CourierError {
        CourierError(
            .storeFull,
            "The message store in memory is full: it holds \(size.rows) rows and \(size.bytes) bytes of at most "
                + "\(limit.rows) and \(limit.bytes), and \(changes.count) changes do not fit. Wait until messages are "
                + "acknowledged and read, or raise its limits.")
    }
}

// MARK: - Steps

extension StoreContents {
    private static func apply(_ change: StoreChange, to scope: inout Scope) -> Undo? {
        switch change {
        case .enqueue(let message):
            scope.gaveOut(message.id)
            return .outgoing(message.id, scope.putOutgoing(StoredOutgoing(message, .queued), message.id))
        case .progress(let id, let progress):
            guard let row = scope.outgoing[id] else { return nil }
            return .outgoing(id, scope.putOutgoing(StoredOutgoing(row.message, progress), id))
        case .removeOutgoing(let id): return scope.putOutgoing(nil, id).map { .outgoing(id, $0) }
        case .keep(let message):
            scope.gaveOut(message.id)
            return .incoming(message.id, scope.putIncoming(message, message.id))
        case .removeIncoming(let id): return scope.putIncoming(nil, id).map { .incoming(id, $0) }
        case .removeExpired(let date):
            let expired = scope.incoming.removeAll { $0.isOver(at: date) }
            for message in expired { scope.subtract(message) }
            return .expired(expired)
        case .rememberPacketID(let id): return .packetID(id, wasThere: !scope.packetIDs.insert(id).inserted)
        case .forgetPacketID(let id): return .packetID(id, wasThere: scope.packetIDs.remove(id) != nil)
        case .forgetAllPacketIDs:
            defer { scope.packetIDs = [] }
            return .packetIDs(scope.packetIDs)
        case .want(let subscription):
            return .subscription(
                subscription.filter, scope.setSubscription(subscription.filter, subscription.intent))
        case .forgetSubscription(let filter): return .subscription(filter, scope.setSubscription(filter, nil))
        case .removeAll:
            let old = scope
            scope = Scope()
            scope.lastMessageID = old.lastMessageID
            return .scope(old)
        }
    }

    private static func takeBack(_ step: Undo, in scope: inout Scope) {
        switch step {
        case .outgoing(let id, let row): scope.putOutgoing(row, id)
        case .incoming(let id, let message): scope.putIncoming(message, id)
        case .expired(let messages): for message in messages { scope.putIncoming(message, message.id) }
        case .packetIDs(let ids): scope.packetIDs = ids
        case .packetID(let id, let wasThere):
            if wasThere { scope.packetIDs.insert(id) } else { scope.packetIDs.remove(id) }
        case .subscription(let filter, let intent): scope.setSubscription(filter, intent)
        case .scope(let old): scope = old
        }
    }
}

extension StoreContents.Scope {
    fileprivate mutating func gaveOut(_ id: StoredMessage.ID) { lastMessageID = max(lastMessageID ?? id, id) }

    /// Sets or removes a row, and gives the one that was there.
    @discardableResult
    fileprivate mutating func putOutgoing(_ row: StoredOutgoing?, _ id: StoredMessage.ID) -> StoredOutgoing? {
        let old = row.map { outgoing.put($0, id) } ?? outgoing.remove(id)
        if let row { add(row.message) }
        if let old { subtract(old.message) }
        return old
    }

    @discardableResult
    fileprivate mutating func putIncoming(_ message: StoredMessage?, _ id: StoredMessage.ID) -> StoredMessage? {
        let old = message.map { incoming.put($0, id) } ?? incoming.remove(id)
        if let message { add(message) }
        if let old { subtract(old) }
        return old
    }

    @discardableResult
    fileprivate mutating func setSubscription(
        _ filter: TopicFilter, _ intent: StoredSubscription.Intent?
    ) -> StoredSubscription.Intent? {
        let old = subscriptions[filter]
        subscriptions[filter] = intent
        if intent != nil { size = size + StoreSize(of: filter) }
        if old != nil { size = size - StoreSize(of: filter) }
        return old
    }

    private mutating func add(_ message: StoredMessage) {
        size = size + StoreSize(of: message)
        payloadBytes += message.payload.count
    }

    fileprivate mutating func subtract(_ message: StoredMessage) {
        size = size - StoreSize(of: message)
        payloadBytes -= message.payload.count
    }
}
