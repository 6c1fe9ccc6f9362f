import CourierCore
import CourierSQLite

/// A store with a planted mistake.
struct BrokenStore: MessageStore {
    enum Mistake: Sendable {
        /// Does not store the progress of a message, so the next process sends it as a new message.
        case forgetsProgress
        /// Does not store new messages and never reports a result, so no message is ever accepted.
        case ignoresNewMessages
    }

    private let store: SQLiteMessageStore
    private let mistake: Mistake

    init(_ store: SQLiteMessageStore, _ mistake: Mistake) {
        self.store = store
        self.mistake = mistake
    }

    func commit(
        _ changes: [StoreChange], in scope: StoreScope,
        completion: @escaping @Sendable (Result<Void, CourierError>) -> Void
    ) {
        switch mistake {
        case .forgetsProgress:
            let kept = changes.filter { change in
                if case .progress = change { false } else { true }
            }
            store.commit(kept, in: scope, completion: completion)
        case .ignoresNewMessages:
            let hasNew = changes.contains { change in
                if case .enqueue = change { true } else { false }
            }
            if !hasNew { store.commit(changes, in: scope, completion: completion) }
        }
    }

    func summary(of scope: StoreScope) async throws -> StoreSummary { try await store.summary(of: scope) }

    func outgoing(in scope: StoreScope, after id: StoredMessage.ID?, limit: Int) async throws -> [StoredOutgoing] {
        try await store.outgoing(in: scope, after: id, limit: limit)
    }

    func incoming(
        in scope: StoreScope, matching filter: TopicFilter?, after id: StoredMessage.ID?, limit: Int
    ) async throws -> [StoredMessage] {
        try await store.incoming(in: scope, matching: filter, after: id, limit: limit)
    }

    func incomingPacketIDs(in scope: StoreScope) async throws -> Set<UInt16> {
        try await store.incomingPacketIDs(in: scope)
    }

    func subscriptions(in scope: StoreScope) async throws -> [StoredSubscription] {
        try await store.subscriptions(in: scope)
    }
}
