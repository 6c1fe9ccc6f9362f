import CourierCore
import Foundation

/// The contents of a ``MemoryMessageStore``, as a value. A commit applies all its changes or none.
struct StoreContents: Sendable {
    /// The rows of one scope.
    struct Scope: Sendable {
        var outgoing = MessageRows<StoredOutgoing>()
        var incoming = MessageRows<StoredMessage>()
        var jobs = MessageRows<StoredJob>()
        /// The keys of handled messages. The outer dictionary is indexed by the name of the processor, the inner one by
        /// the key.
        var processedKeys: [String: [String: ProcessedKey]] = [:]
        var packetIDs: Set<UInt16> = []
        var subscriptions: [TopicFilter: StoredSubscription.Intent] = [:]
        var lastMessageID: StoredMessage.ID?
        var session: StoreScope?
        var payloadBytes = 0
        /// The numbers of rows and bytes of this scope. Both count toward the limits of the store.
        var size = StoreSize()
    }

    /// The previous value of data that a commit has changed. If the commit fails, this value is restored.
    private enum Undo {
        case outgoing(StoredMessage.ID, StoredOutgoing?)
        case incoming(StoredMessage.ID, StoredMessage?)
        case job(StoredMessage.ID, StoredJob?)
        case processedKey(processor: String, key: String, ProcessedKey?)
        case expired([StoredMessage])
        case packetIDs(Set<UInt16>)
        case packetID(UInt16, wasThere: Bool)
        case session(StoreScope?)
        case subscription(TopicFilter, StoredSubscription.Intent?)
        case rejected([Rejected])
        case scope(Scope)
        case list([Undo])
    }

    /// A rejected message and its scope.
    private struct Rejected {
        let scope: StoreScope
        let message: RejectedMessage
    }

    private let limit: StoreSize
    private var scopes: [StoreScope: Scope] = [:]
    private var size = StoreSize()
    /// The rejected messages of all scopes, in the order of their rejection.
    private var rejected: [Rejected] = []

    init(limit: StoreSize) { self.limit = limit }

    subscript(scope: StoreScope) -> Scope { scopes[scope] ?? Scope() }

    /// Applies all changes, or none if the contents would exceed the limits.
    mutating func apply(_ changes: [StoreChange], in name: StoreScope) throws(CourierError) {
        guard !changes.isEmpty else { return }
        // Take the scope out of the dictionary during the changes. Otherwise, each change would copy the scope's rows.
        var scope = scopes.removeValue(forKey: name) ?? Scope()
        defer { scopes[name] = scope }
        let before = scope.size
        let lastMessageID = scope.lastMessageID
        let mayNotFit = !(size + StoreSize(addedBy: changes)).fits(limit)
        var undo: [Undo] = []
        for change in changes {
            let step = apply(change, to: &scope, name)
            if mayNotFit, let step { undo.append(step) }
        }
        let after = size - before + scope.size
        if mayNotFit, !after.fits(limit, atMost: size) {
            for step in undo.reversed() { takeBack(step, in: &scope) }
            scope.lastMessageID = lastMessageID
            throw full(changes)
        }
        size = after
    }

    /// Returns at most `limit` rejected messages of a scope with ids above `id`, in the order of their ids. If `id` is
    /// `nil`, starts with the first message.
    func rejected(in scope: StoreScope, after id: StoredMessage.ID?, limit: Int) -> [RejectedMessage] {
        let found = rejected.lazy.filter { $0.scope == scope }.map(\.message)
            .filter { message in id.map { message.message.id > $0 } ?? true }
        return Array(found.sorted { $0.message.id < $1.message.id }.prefix(max(limit, 0)))
    }

    private func full(_ changes: [StoreChange]) -> CourierError {
        CourierError(
            .storeFull,
            "The message store in memory is full. It holds \(size.rows) of at most \(limit.rows) rows, "
                + "and \(size.bytes) of at most \(limit.bytes) bytes, so \(changes.count) changes do not fit. "
                + "Wait until messages are acknowledged and read, or raise the limits of the store.")
    }
}

// MARK: - Applying single changes

extension StoreContents {
    private mutating func apply(_ change: StoreChange, to scope: inout Scope, _ name: StoreScope) -> Undo? {
        switch change {
        case .enqueue(let message):
            scope.gaveOut(message.id)
            return .outgoing(message.id, scope.putOutgoing(StoredOutgoing(message, .queued), message.id))
        case .progress(let id, let progress):
            guard let row = scope.outgoing[id] else { return nil }
            return .outgoing(id, scope.putOutgoing(StoredOutgoing(row.message, progress, strikes: row.strikes), id))
        case .removeOutgoing(let id): return scope.putOutgoing(nil, id).map { .outgoing(id, $0) }
        case .strike(let id, let count):
            guard let row = scope.outgoing[id] else { return nil }
            return .outgoing(id, scope.putOutgoing(StoredOutgoing(row.message, row.progress, strikes: count), id))
        case .reject(let id, let reason, let date):
            guard let row = scope.putOutgoing(nil, id) else { return nil }
            let before = rejected
            keepRejected(Rejected(scope: name, message: RejectedMessage(row, reason: reason, rejectedAt: date)))
            return .list([.rejected(before), .outgoing(id, row)])
        case .removeRejected(let id):
            defer { rejected.removeAll { $0.scope == name && $0.message.message.id == id } }
            return .rejected(rejected)
        case .keep(let message):
            scope.gaveOut(message.id)
            return .incoming(message.id, scope.putIncoming(message, message.id))
        case .removeIncoming(let id): return scope.putIncoming(nil, id).map { .incoming(id, $0) }
        case .removeExpired(let time):
            let expired = scope.incoming.removeAll { $0.isOver(at: time) }
            for message in expired { scope.subtract(message) }
            return .expired(expired)
        case .addJob(let job):
            scope.gaveOut(job.message.id)
            return .job(job.message.id, scope.putJob(job, job.message.id))
        case .updateJob(let id, let state):
            guard let row = scope.jobs[id] else { return nil }
            return .job(id, scope.putJob(StoredJob(row.message, state), id))
        case .removeJob(let id): return scope.putJob(nil, id).map { .job(id, $0) }
        case .rememberKey(let key):
            let old = scope.setKey(key, of: key.processor, key.key)
            return .processedKey(processor: key.processor, key: key.key, old)
        case .forgetKeys(let processor, let keys):
            return .list(
                keys.map { .processedKey(processor: processor, key: $0, scope.setKey(nil, of: processor, $0)) })
        case .rememberPacketID(let id): return .packetID(id, wasThere: !scope.packetIDs.insert(id).inserted)
        case .forgetPacketID(let id): return .packetID(id, wasThere: scope.packetIDs.remove(id) != nil)
        case .forgetAllPacketIDs:
            defer { scope.packetIDs = [] }
            return .packetIDs(scope.packetIDs)
        case .rememberSession(let session):
            defer { scope.session = session }
            return .session(scope.session)
        case .want(let subscription):
            return .subscription(
                subscription.filter, scope.setSubscription(subscription.filter, subscription.intent))
        case .forgetSubscription(let filter): return .subscription(filter, scope.setSubscription(filter, nil))
        case .removeAll:
            let (old, before) = (scope, rejected)
            scope = Scope()
            scope.lastMessageID = old.lastMessageID
            rejected.removeAll { $0.scope == name }
            return .list([.rejected(before), .scope(old)])
        }
    }

    /// Adds a rejected message. Removes the oldest rejected messages while all of them together exceed the limit.
    private mutating func keepRejected(_ new: Rejected) {
        rejected.removeAll { $0.scope == new.scope && $0.message.message.id == new.message.message.id }
        let size = StoreSize(of: new.message.message)
        guard size.fits(RejectedMessage.limit) else { return }
        rejected.append(new)
        var total = rejected.reduce(StoreSize()) { $0 + StoreSize(of: $1.message.message) }
        while !total.fits(RejectedMessage.limit) {
            total -= StoreSize(of: rejected.removeFirst().message.message)
        }
    }

    private mutating func takeBack(_ step: Undo, in scope: inout Scope) {
        switch step {
        case .outgoing(let id, let row): scope.putOutgoing(row, id)
        case .incoming(let id, let message): scope.putIncoming(message, id)
        case .job(let id, let job): scope.putJob(job, id)
        case .processedKey(let processor, let key, let old): scope.setKey(old, of: processor, key)
        case .expired(let messages): for message in messages { scope.putIncoming(message, message.id) }
        case .packetIDs(let ids): scope.packetIDs = ids
        case .packetID(let id, let wasThere):
            if wasThere { scope.packetIDs.insert(id) } else { scope.packetIDs.remove(id) }
        case .session(let session): scope.session = session
        case .subscription(let filter, let intent): scope.setSubscription(filter, intent)
        case .rejected(let messages): rejected = messages
        case .scope(let old): scope = old
        case .list(let steps): for step in steps { takeBack(step, in: &scope) }
        }
    }
}

extension StoreContents.Scope {
    fileprivate mutating func gaveOut(_ id: StoredMessage.ID) { lastMessageID = max(lastMessageID ?? id, id) }

    /// Adds or replaces the row with this id, or removes it if `row` is `nil`. Returns the former row.
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
    fileprivate mutating func putJob(_ job: StoredJob?, _ id: StoredMessage.ID) -> StoredJob? {
        let old = job.map { jobs.put($0, id) } ?? jobs.remove(id)
        if let job { add(job.message) }
        if let old { subtract(old.message) }
        return old
    }

    /// Adds or replaces the key of a handled message, or removes it if `new` is `nil`. Returns the former key.
    @discardableResult
    fileprivate mutating func setKey(_ new: ProcessedKey?, of processor: String, _ key: String) -> ProcessedKey? {
        let old = processedKeys[processor]?[key]
        if let old { size -= StoreSize(of: old) }
        if let new { size += StoreSize(of: new) }
        processedKeys[processor, default: [:]][key] = new
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
