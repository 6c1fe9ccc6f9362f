import CourierCore
import Foundation
import Synchronization

/// A message store in memory. The walk decides when commits complete, and whether they fail.
final class WalkStore: MessageStore {
    fileprivate struct Commit: Sendable {
        let changes: [StoreChange]
        let completion: @Sendable (Result<Void, CourierError>) -> Void
    }

    fileprivate struct State {
        var rows: [StoredOutgoing] = []
        var lastID: StoredMessage.ID?
        var packetIDs: Set<UInt16> = []
        var session: StoreScope?
        var pending: [Commit] = []
        var readCount = 0
    }

    private let state = Mutex(State())

    /// The number of waiting commits.
    var pendingCount: Int { state.withLock { $0.pending.count } }
    /// The number of reads.
    var readCount: Int { state.withLock { $0.readCount } }
    /// The number of stored outgoing messages.
    var rowCount: Int { state.withLock { $0.rows.count } }

    /// Completes this number of commits. All of them succeed, or all of them fail.
    func complete(_ count: Int, failing: Bool = false) -> Int {
        let taken = state.withLock { state in
            let taken = Array(state.pending.prefix(count))
            state.pending.removeFirst(taken.count)
            if !failing { for commit in taken { for change in commit.changes { state.apply(change) } } }
            return taken
        }
        for commit in taken {
            commit.completion(failing ? .failure(CourierError(.storeFailed, "The walk's store failed.")) : .success(()))
        }
        return taken.count
    }

    // MARK: MessageStore

    func commit(
        _ changes: [StoreChange], in scope: StoreScope,
        completion: @escaping @Sendable (Result<Void, CourierError>) -> Void
    ) {
        state.withLock { $0.pending.append(Commit(changes: changes, completion: completion)) }
    }

    func summary(of scope: StoreScope) async throws -> StoreSummary {
        state.withLock { state in
            state.readCount += 1
            return StoreSummary(
                outgoingCount: state.rows.count, incomingCount: 0,
                payloadBytes: state.rows.reduce(0) { $0 + $1.message.payload.count }, lastMessageID: state.lastID,
                session: state.session)
        }
    }

    func outgoing(in scope: StoreScope, after id: StoredMessage.ID?, limit: Int) async throws -> [StoredOutgoing] {
        state.withLock { state in
            state.readCount += 1
            return Array(
                state.rows.filter { row in id.map { $0 < row.message.id } ?? true }
                    .sorted { $0.message.id < $1.message.id }.prefix(limit))
        }
    }

    func incoming(
        in scope: StoreScope, matching filter: TopicFilter?, after id: StoredMessage.ID?, limit: Int
    ) async throws -> [StoredMessage] {
        state.withLock { $0.readCount += 1 }
        return []
    }

    func incomingPacketIDs(in scope: StoreScope) async throws -> Set<UInt16> {
        state.withLock { state in
            state.readCount += 1
            return state.packetIDs
        }
    }

    func subscriptions(in scope: StoreScope) async throws -> [StoredSubscription] {
        state.withLock { $0.readCount += 1 }
        return []
    }
}

extension WalkStore.State {
    fileprivate mutating func apply(_ change: StoreChange) {
        switch change {
        case .enqueue(let message):
            rows.removeAll { $0.message.id == message.id }
            rows.append(StoredOutgoing(message, .queued))
            lastID = max(lastID ?? message.id, message.id)
        case .progress(let id, let progress):
            guard let index = rows.firstIndex(where: { $0.message.id == id }) else { return }
            rows[index] = StoredOutgoing(rows[index].message, progress)
        case .removeOutgoing(let id), .reject(let id, _, _): rows.removeAll { $0.message.id == id }
        case .rememberPacketID(let id): packetIDs.insert(id)
        case .forgetPacketID(let id): packetIDs.remove(id)
        case .forgetAllPacketIDs: packetIDs = []
        case .rememberSession(let new): session = new
        case .removeAll: (rows, packetIDs, session) = ([], [], nil)
        case .keep, .removeIncoming, .removeExpired, .want, .forgetSubscription: break  // A walk receives no messages.
        case .strike, .removeRejected, .addJob, .updateJob, .removeJob, .rememberKey, .forgetKeys: break
        }
    }
}
