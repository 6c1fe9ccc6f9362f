import CourierCore
import CourierSQLite

/// A store with a mistake: it does not keep how far a message has come, so that the next process sends it as a new one.
struct ForgetfulStore: MessageStore {
    private let store: SQLiteMessageStore

    init(_ store: SQLiteMessageStore) { self.store = store }

    func commit(
        _ changes: [StoreChange], in scope: StoreScope,
        completion: @escaping @Sendable (Result<Void, CourierError>) -> Void
    ) {
        let kept = changes.filter { change in
            if case .progress = change { false } else { true }
        }
        store.commit(kept, in: scope, completion: completion)
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
