import CourierCore
import Dispatch
import Foundation
import Synchronization

/// A correct store in memory, with an optional fault.
final class FaultyStore: MessageStore {
    enum Fault: CaseIterable {
        case beginsWithAnID, losesProperties, readsNewestFirst, repeatsLastOfPage, ignoresLimit, mixesDirections
        case neverGoesBack, appliesInReverse, failsForMissing, revivesRemoved, forgetsLastID, countsIDsOfRows
        case ignoresFilter, filtersPages, showsExpired, keepsExpired, expiresOutgoing, neverForgetsPacketIDs
        case keepsEveryIntent, folds, countsOneDirection, ignoresBroker, joinsNames, removesEverywhere
        case completesTwice, completesNever, completesInside, completesInReverse, appliesLate, splitsBatches
        case dropsWhenBusy
        case agesByDate, forgetsBootTime, forgetsStrikes, dropsStrikesOnProgress, sendsRejected, forgetsRejected
        case keepsJobState, forgetsJobs, mixesKeys
        case countsRejected, keepsFirstSession, keepsSessionOfRemoved
        case keepsPartOfRefused, countsRefusedIDs, refusesRemovals, neverHasRoomAgain, refusesVaguely
    }

    private struct Rows {
        var outgoing: [StoredOutgoing] = []
        var incoming: [StoredMessage] = []
        var rejected: [RejectedMessage] = []
        var jobs: [StoredJob] = []
        var keys: [ProcessedKey] = []
        var packetIDs: Set<UInt16> = []
        var subscriptions: [StoredSubscription] = []
        var lastID: StoredMessage.ID?
        var session: StoreScope?

        var count: Int { outgoing.count + incoming.count }
    }

    private struct Waiting {
        let result: Result<Void, CourierError>
        let completion: @Sendable (Result<Void, CourierError>) -> Void
    }

    private struct State {
        var scopes: [StoreScope: Rows] = [:]
        /// The number of committed batches.
        var count = 0
        var hasRefused = false
        /// Changes that take effect only after the next read.
        var laggards: [@Sendable (FaultyStore) -> Void] = []
        var unordered: [Waiting] = []
    }

    private let fault: Fault?
    private let limit: Int
    private let queue = DispatchQueue(label: "faulty-store")
    private let state = Mutex(State())

    init(_ fault: Fault? = nil, limit: Int = .max) {
        self.fault = fault
        self.limit = limit
    }

    // MARK: Writing

    func commit(
        _ changes: [StoreChange], in scope: StoreScope,
        completion: @escaping @Sendable (Result<Void, CourierError>) -> Void
    ) {
        let scope = key(scope)
        if fault == .completesInside { return completion(apply(changes, in: scope)) }
        let number = state.withLock { state in
            state.count += 1
            return state.count
        }
        // It is busy from the first batch to the fifth.
        if fault == .dropsWhenBusy, number == 1 { queue.suspend() }
        if fault == .dropsWhenBusy, number == 5 { queue.resume() }
        queue.async { [self] in
            if fault == .dropsWhenBusy, number < 5 { return completion(.success(())) }
            switch fault {
            case .splitsBatches where changes.count > 1:
                _ = apply(Array(changes.prefix(changes.count / 2)), in: scope)
                let rest = Array(changes.dropFirst(changes.count / 2))
                // The store applies the other half after the next read.
                state.withLock { state in
                    state.laggards.append { store in completion(store.apply(rest, in: scope)) }
                }
            case .appliesLate:
                // The store applies the change after the next read.
                state.withLock { $0.laggards.append { store in _ = store.apply(changes, in: scope) } }
                completion(.success(()))
            case .completesNever: _ = apply(changes, in: scope)
            case .completesTwice:
                let result = apply(changes, in: scope)
                completion(result)
                completion(result)
            case .completesInReverse:
                // After the first batch, batches complete in pairs.
                let waiting = Waiting(result: apply(changes, in: scope), completion: completion)
                let due = state.withLock { state -> [Waiting] in
                    state.unordered.insert(waiting, at: 0)
                    guard number == 1 || !number.isMultiple(of: 2) else { return [] }
                    defer { state.unordered = [] }
                    return state.unordered
                }
                for waiting in due { waiting.completion(waiting.result) }
            default: completion(apply(changes, in: scope))
            }
        }
    }

    private func key(_ scope: StoreScope) -> StoreScope {
        switch fault {
        case .ignoresBroker: StoreScope(clientID: scope.clientID, broker: "")
        case .joinsNames: StoreScope(clientID: "\(scope.clientID):\(scope.broker)", broker: "")
        default: scope
        }
    }

    private func apply(_ changes: [StoreChange], in scope: StoreScope) -> Result<Void, CourierError> {
        state.withLock { state in
            let before = state.scopes
            var rows = state.scopes[scope] ?? Rows()
            for change in fault == .appliesInReverse ? changes.reversed() : changes {
                if let error = apply(change, to: &rows, in: scope, &state) {
                    state.scopes = before
                    return .failure(error)
                }
            }
            if fault == .removesEverywhere, changes == [.removeAll] { state.scopes = [:] }
            if let refusal = refusal(of: changes, rows, hasRefused: state.hasRefused) {
                state.hasRefused = true
                if fault == .keepsPartOfRefused, let first = changes.first {
                    var part = before[scope] ?? Rows()
                    _ = apply(first, to: &part, in: scope, &state)
                    state.scopes[scope] = part
                }
                if fault == .countsRefusedIDs { state.scopes[scope, default: Rows()].lastID = rows.lastID }
                return .failure(refusal)
            }
            state.scopes[scope] = rows
            return .success(())
        }
    }

    private func refusal(of changes: [StoreChange], _ rows: Rows, hasRefused: Bool) -> CourierError? {
        let stores = changes.contains { if case .enqueue = $0 { true } else { false } }
        let count = rows.count + (fault == .countsRejected ? rows.rejected.count : 0)
        let isRefused = stores ? count > limit || (hasRefused && fault == .neverHasRoomAgain) : false
        let refusesRemoval = fault == .refusesRemovals && !stores && hasRefused
        guard isRefused || refusesRemoval else { return nil }
        return CourierError(fault == .refusesVaguely ? .storeFailed : .storeFull, "The store is full.")
    }

    private func apply(
        _ change: StoreChange, to rows: inout Rows, in scope: StoreScope, _ state: inout State
    ) -> CourierError? {
        func grow(_ id: StoredMessage.ID) { rows.lastID = max(rows.lastID ?? id, id) }
        switch change {
        case .enqueue(let message):
            rows.outgoing.removeAll { $0.message.id == message.id }
            rows.outgoing.append(StoredOutgoing(plain(message), .queued))
            grow(message.id)
        case .progress(let id, let progress):
            if fault == .neverGoesBack, progress == .queued { return nil }
            if let index = rows.outgoing.firstIndex(where: { $0.message.id == id }) {
                rows.outgoing[index] = StoredOutgoing(
                    rows.outgoing[index].message, progress,
                    strikes: fault == .dropsStrikesOnProgress ? 0 : rows.outgoing[index].strikes)
            } else if fault == .revivesRemoved, rows.lastID != nil {
                let message = StoredMessage(id: id, topic: "", payload: [], qos: .one, storedAt: Date())
                rows.outgoing.append(StoredOutgoing(message, progress))
            }
        case .removeOutgoing(let id):
            if fault == .failsForMissing, !rows.outgoing.contains(where: { $0.message.id == id }) {
                return CourierError(.storeFailed, "There is no message \(id).")
            }
            rows.outgoing.removeAll { $0.message.id == id }
        case .strike(let id, let count):
            guard fault != .forgetsStrikes, let index = rows.outgoing.firstIndex(where: { $0.message.id == id }) else {
                return nil
            }
            let row = rows.outgoing[index]
            rows.outgoing[index] = StoredOutgoing(row.message, row.progress, strikes: count)
        case .reject(let id, let reason, let date):
            guard fault != .sendsRejected, let index = rows.outgoing.firstIndex(where: { $0.message.id == id }) else {
                return nil
            }
            let row = rows.outgoing.remove(at: index)
            if fault == .forgetsRejected { return nil }
            rows.rejected.append(RejectedMessage(row, reason: reason, rejectedAt: date))
        case .removeRejected(let id): rows.rejected.removeAll { $0.message.id == id }
        case .keep(let message):
            rows.incoming.removeAll { $0.id == message.id }
            rows.incoming.append(plain(message))
            grow(message.id)
        case .removeIncoming(let id):
            rows.incoming.removeAll { $0.id == id }
            if fault == .mixesDirections { rows.outgoing.removeAll { $0.message.id == id } }
        case .removeExpired(let time):
            if fault == .keepsExpired { return nil }
            rows.incoming.removeAll { isOver($0, at: time) }
            if fault == .expiresOutgoing { rows.outgoing.removeAll { isOver($0.message, at: time) } }
        case .addJob(let job):
            grow(job.message.id)
            if fault == .forgetsJobs { return nil }
            rows.jobs.removeAll { $0.message.id == job.message.id }
            rows.jobs.append(job)
        case .updateJob(let id, let state):
            guard fault != .keepsJobState, let index = rows.jobs.firstIndex(where: { $0.message.id == id }) else {
                return nil
            }
            rows.jobs[index] = StoredJob(rows.jobs[index].message, state)
        case .removeJob(let id): rows.jobs.removeAll { $0.message.id == id }
        case .rememberKey(let key):
            rows.keys.removeAll { isSame($0, key) }
            rows.keys.append(key)
        case .forgetKeys(let processor, let keys):
            rows.keys.removeAll { $0.processor == processor && keys.contains($0.key) }
        case .rememberPacketID(let id): rows.packetIDs.insert(id)
        case .forgetPacketID(let id): if fault != .neverForgetsPacketIDs { rows.packetIDs.remove(id) }
        case .forgetAllPacketIDs: rows.packetIDs = []
        case .rememberSession(let session):
            if fault != .keepsFirstSession || rows.session == nil { rows.session = session }
        case .want(let wanted):
            if fault != .keepsEveryIntent { rows.subscriptions.removeAll { isSame($0.filter, wanted.filter) } }
            rows.subscriptions.append(wanted)
        case .forgetSubscription(let filter): rows.subscriptions.removeAll { isSame($0.filter, filter) }
        case .removeAll:
            let (last, session) = (rows.lastID, rows.session)
            rows = Rows()
            if fault != .forgetsLastID { rows.lastID = last }
            if fault == .keepsSessionOfRemoved { rows.session = session }
        }
        return nil
    }

    private func isOver(_ message: StoredMessage, at time: StoreTime) -> Bool {
        fault == .agesByDate ? (message.expiresAt ?? .distantFuture) <= time.date : message.isOver(at: time)
    }

    private func plain(_ message: StoredMessage) -> StoredMessage {
        if fault == .forgetsBootTime {
            return StoredMessage(
                id: message.id, topic: message.topic, payload: message.payload, qos: message.qos,
                isRetained: message.isRetained, properties: message.properties, storedAt: message.storedAt,
                expiresAt: message.expiresAt)
        }
        guard fault == .losesProperties else { return message }
        return StoredMessage(
            id: message.id, topic: message.topic, payload: message.payload, qos: message.qos,
            isRetained: message.isRetained, storedAt: message.storedAt, expiresAt: message.expiresAt)
    }

    private func isSame(_ left: TopicFilter, _ right: TopicFilter) -> Bool {
        fault == .folds ? left.string == right.string : left == right
    }

    private func isSame(_ left: ProcessedKey, _ right: ProcessedKey) -> Bool {
        left.key == right.key && (left.processor == right.processor || fault == .mixesKeys)
    }

    // MARK: Reading

    var keepsJobs: Bool { true }

    func jobs(in scope: StoreScope, after id: StoredMessage.ID?, limit: Int) async throws -> [StoredJob] {
        read(scope) { self.page($0.jobs, \.message.id, after: id, limit: limit) }
    }

    func processedKeys(of processor: String, in scope: StoreScope) async throws -> [ProcessedKey] {
        read(scope) { $0.keys.filter { $0.processor == processor } }
    }

    private func read<Value: Sendable>(_ scope: StoreScope, _ body: @Sendable (Rows) -> Value) -> Value {
        let (value, laggards) = state.withLock { state in
            defer { state.laggards = [] }
            return (body(state.scopes[key(scope)] ?? Rows()), state.laggards)
        }
        for laggard in laggards { laggard(self) }
        return value
    }

    private func page<Row>(_ rows: [Row], _ id: (Row) -> StoredMessage.ID, after: StoredMessage.ID?, limit: Int)
        -> [Row]
    {
        let sorted = rows.sorted { fault == .readsNewestFirst ? id($0) > id($1) : id($0) < id($1) }
        let above = sorted.filter { row in
            guard let after else { return true }
            return fault == .repeatsLastOfPage ? id(row) >= after : id(row) > after
        }
        return fault == .ignoresLimit ? above : Array(above.prefix(limit))
    }

    func summary(of scope: StoreScope) async throws -> StoreSummary {
        read(scope) { rows in
            let out = rows.outgoing.map(\.message.payload.count).reduce(0, +)
            let back = rows.incoming.map(\.payload.count).reduce(0, +)
            let rowIDs = (rows.outgoing.map(\.message.id) + rows.incoming.map(\.id)).max()
            var last = self.fault == .countsIDsOfRows ? rowIDs : rows.lastID
            if self.fault == .beginsWithAnID { last = last ?? StoredMessage.ID(rawValue: 0) }
            return StoreSummary(
                outgoingCount: rows.outgoing.count, incomingCount: rows.incoming.count,
                payloadBytes: self.fault == .countsOneDirection ? out : out + back, lastMessageID: last,
                session: rows.session)
        }
    }

    func outgoing(in scope: StoreScope, after id: StoredMessage.ID?, limit: Int) async throws -> [StoredOutgoing] {
        read(scope) { self.page($0.outgoing, \.message.id, after: id, limit: limit) }
    }

    func incoming(
        in scope: StoreScope, matching filter: TopicFilter?, after id: StoredMessage.ID?, limit: Int
    ) async throws -> [StoredMessage] {
        try await incoming(in: scope, matching: filter, after: id, limit: limit, at: .now)
    }

    func incoming(
        in scope: StoreScope, matching filter: TopicFilter?, after id: StoredMessage.ID?, limit: Int, at time: StoreTime
    ) async throws -> [StoredMessage] {
        read(scope) { rows in
            let current = rows.incoming.filter { self.fault == .showsExpired || !self.isOver($0, at: time) }
            func matches(_ message: StoredMessage) -> Bool {
                guard self.fault != .ignoresFilter, let filter else { return true }
                return (try? TopicName(message.topic)).map(filter.matches) ?? false
            }
            if self.fault == .filtersPages {
                return self.page(current, \.id, after: id, limit: limit).filter(matches)
            }
            return self.page(current.filter(matches), \.id, after: id, limit: limit)
        }
    }

    func rejected(in scope: StoreScope, after id: StoredMessage.ID?, limit: Int) async throws -> [RejectedMessage] {
        read(scope) { self.page($0.rejected, \.message.id, after: id, limit: limit) }
    }

    func incomingPacketIDs(in scope: StoreScope) async throws -> Set<UInt16> { read(scope) { $0.packetIDs } }
    func subscriptions(in scope: StoreScope) async throws -> [StoredSubscription] { read(scope) { $0.subscriptions } }
}
