import CourierCore

/// A store that passes all calls to another store. A type that conforms changes some of the calls.
protocol ForwardingStore: MessageStore {
    var store: any MessageStore { get }
}

extension ForwardingStore {
    var keepsJobs: Bool { store.keepsJobs }

    func summary(of scope: StoreScope) async throws -> StoreSummary { try await store.summary(of: scope) }

    func outgoing(in scope: StoreScope, after id: StoredMessage.ID?, limit: Int) async throws -> [StoredOutgoing] {
        try await store.outgoing(in: scope, after: id, limit: limit)
    }

    func incoming(
        in scope: StoreScope, matching filter: TopicFilter?, after id: StoredMessage.ID?, limit: Int
    ) async throws -> [StoredMessage] {
        try await store.incoming(in: scope, matching: filter, after: id, limit: limit)
    }

    func jobs(in scope: StoreScope, after id: StoredMessage.ID?, limit: Int) async throws -> [StoredJob] {
        try await store.jobs(in: scope, after: id, limit: limit)
    }

    func processedKeys(of processor: String, in scope: StoreScope) async throws -> [ProcessedKey] {
        try await store.processedKeys(of: processor, in: scope)
    }

    func incomingPacketIDs(in scope: StoreScope) async throws -> Set<UInt16> {
        try await store.incomingPacketIDs(in: scope)
    }

    func subscriptions(in scope: StoreScope) async throws -> [StoredSubscription] {
        try await store.subscriptions(in: scope)
    }
}
