import CourierCore
import Foundation

/// A simple model in memory of the expected contents of a store.
struct StoreModel {
    struct Scope {
        var outgoing: [UInt64: StoredOutgoing] = [:]
        var incoming: [UInt64: StoredMessage] = [:]
        var packetIDs: Set<UInt16> = []
        var subscriptions: [TopicFilter: StoredSubscription.Intent] = [:]
        var rejected: [UInt64: RejectedMessage] = [:]
        var last: UInt64?
        var session: StoreScope?
        var jobs: [UInt64: StoredJob] = [:]
        var keys: [String: ProcessedKey] = [:]
    }

    private(set) var scopes: [StoreScope: Scope] = [:]

    mutating func apply(_ changes: [StoreChange], in name: StoreScope = .client) {
        for change in changes { apply(change, to: &scopes[name, default: Scope()]) }
    }

    private func apply(_ change: StoreChange, to scope: inout Scope) {
        switch change {
        case .enqueue(let message):
            scope.outgoing[message.id.rawValue] = StoredOutgoing(message, .queued)
            scope.last = max(scope.last ?? 0, message.id.rawValue)
        case .progress(let id, let progress):
            guard let row = scope.outgoing[id.rawValue] else { return }
            scope.outgoing[id.rawValue] = StoredOutgoing(row.message, progress, strikes: row.strikes)
        case .removeOutgoing(let id): scope.outgoing[id.rawValue] = nil
        case .strike(let id, let count):
            guard let row = scope.outgoing[id.rawValue] else { return }
            scope.outgoing[id.rawValue] = StoredOutgoing(row.message, row.progress, strikes: count)
        case .reject(let id, let reason, let date):
            guard let row = scope.outgoing.removeValue(forKey: id.rawValue) else { return }
            scope.rejected[id.rawValue] = RejectedMessage(row, reason: reason, rejectedAt: date)
        case .removeRejected(let id): scope.rejected[id.rawValue] = nil
        case .keep(let message):
            scope.incoming[message.id.rawValue] = message
            scope.last = max(scope.last ?? 0, message.id.rawValue)
        case .removeIncoming(let id): scope.incoming[id.rawValue] = nil
        case .removeExpired(let time): scope.incoming = scope.incoming.filter { !$0.value.isOver(at: time) }
        case .addJob(let job):
            scope.jobs[job.message.id.rawValue] = job
            scope.last = max(scope.last ?? 0, job.message.id.rawValue)
        case .updateJob(let id, let state):
            if let job = scope.jobs[id.rawValue] { scope.jobs[id.rawValue] = StoredJob(job.message, state) }
        case .removeJob(let id): scope.jobs[id.rawValue] = nil
        case .rememberKey(let key): scope.keys["\(key.processor) \(key.key)"] = key
        case .forgetKeys(let processor, let keys): for key in keys { scope.keys["\(processor) \(key)"] = nil }
        case .rememberPacketID(let id): scope.packetIDs.insert(id)
        case .forgetPacketID(let id): scope.packetIDs.remove(id)
        case .forgetAllPacketIDs: scope.packetIDs = []
        case .rememberSession(let session): scope.session = session
        case .want(let subscription): scope.subscriptions[subscription.filter] = subscription.intent
        case .forgetSubscription(let filter): scope.subscriptions[filter] = nil
        case .removeAll:
            let last = scope.last
            scope = Scope()
            scope.last = last
        }
    }

    func contents(of name: StoreScope = .client) -> StoreContents {
        let scope = scopes[name] ?? Scope()
        let outgoing = scope.outgoing.sorted { $0.key < $1.key }.map(\.value)
        let incoming = scope.incoming.sorted { $0.key < $1.key }.map(\.value)
        let bytes = (outgoing.map(\.message) + incoming).reduce(0) { $0 + $1.payload.count }
        return StoreContents(
            outgoing: outgoing, incoming: incoming,
            rejected: scope.rejected.sorted { $0.key < $1.key }.map(\.value),
            jobs: scope.jobs.sorted { $0.key < $1.key }.map(\.value), keys: Set(scope.keys.values),
            packetIDs: scope.packetIDs,
            subscriptions: scope.subscriptions.map { StoredSubscription($0.key, $0.value) }
                .sorted { $0.filter.string.utf8.lexicographicallyPrecedes($1.filter.string.utf8) },
            summary: StoreSummary(
                outgoingCount: outgoing.count, incomingCount: incoming.count, payloadBytes: bytes,
                lastMessageID: scope.last.map { id($0) }, session: scope.session))
    }
}
