import CourierCore
import Foundation
import Synchronization

/// A store under test. All changes use one scope: one client id and broker.
struct StoreProbe: Sendable {
    /// All data of one scope.
    struct Snapshot: Equatable {
        let outgoing: [StoredOutgoing]
        let incoming: [StoredMessage]
        let rejected: [RejectedMessage]
        let packetIDs: Set<UInt16>
        let subscriptions: Set<StoredSubscription>
        let summary: StoreSummary
    }

    /// A page limit above the number of rows that any law stores.
    static let everything = 100_000

    let store: any MessageStore
    var scope = StoreScope(clientID: "laws", broker: "broker.example:1883")
    /// Counts the completions that were called more than once for a batch.
    let surplus = CompletionSurplus()

    init(_ store: any MessageStore) { self.store = store }

    func inScope(clientID: String, broker: String) -> StoreProbe {
        var other = self
        other.scope = StoreScope(clientID: clientID, broker: broker)
        return other
    }

    // MARK: Writing

    /// Commits one batch and waits for its completion.
    func commit(_ changes: [StoreChange]) async throws(Finding) {
        if case .failure(let error) = await result(of: changes) {
            throw Finding("a batch of \(changes.count) changes failed: \(error)")
        }
    }

    func commit(_ changes: StoreChange...) async throws(Finding) { try await commit(changes) }

    func result(of changes: [StoreChange]) async -> Result<Void, CourierError> {
        // The continuation is unchecked, because a faulty store may never call the completion. The time limit of the
        // law reports this fault. `Once` ignores repeated calls of the completion.
        await withUnsafeContinuation { continuation in
            let once = Once(surplus: surplus)
            store.commit(changes, in: scope) { result in
                if once.take() { continuation.resume(returning: result) }
            }
        }
    }

    // MARK: Reading

    func jobs(after id: UInt64? = nil, limit: Int = everything) async throws -> [StoredJob] {
        try await store.jobs(in: scope, after: id.map { StoredMessage.ID(rawValue: $0) }, limit: limit)
    }

    func keys(of processor: String) async throws -> Set<ProcessedKey> {
        Set(try await store.processedKeys(of: processor, in: scope))
    }

    func outgoing(after id: UInt64? = nil, limit: Int = everything) async throws -> [StoredOutgoing] {
        try await store.outgoing(in: scope, after: id.map { StoredMessage.ID(rawValue: $0) }, limit: limit)
    }

    func sentIDs(after id: UInt64? = nil, limit: Int = everything) async throws -> [UInt64] {
        try await store.sentOutgoing(in: scope, after: id.map { StoredMessage.ID(rawValue: $0) }, limit: limit)
            .map(\.message.id.rawValue)
    }

    func incoming(
        _ filter: String? = nil, after id: UInt64? = nil, limit: Int = everything
    ) async throws -> [StoredMessage] {
        let filter = try filter.map { try TopicFilter($0) }
        return try await store.incoming(
            in: scope, matching: filter, after: id.map { StoredMessage.ID(rawValue: $0) }, limit: limit)
    }

    func incomingIDs(at time: StoreTime) async throws -> [UInt64] {
        try await store.incoming(in: scope, matching: nil, after: nil, limit: Self.everything, at: time)
            .map(\.id.rawValue)
    }

    func rejected(after id: UInt64? = nil, limit: Int = everything) async throws -> [RejectedMessage] {
        try await store.rejected(in: scope, after: id.map { StoredMessage.ID(rawValue: $0) }, limit: limit)
    }

    func outgoingIDs(after id: UInt64? = nil, limit: Int = everything) async throws -> [UInt64] {
        try await outgoing(after: id, limit: limit).map(\.message.id.rawValue)
    }

    func incomingIDs(
        _ filter: String? = nil, after id: UInt64? = nil, limit: Int = everything
    ) async throws -> [UInt64] {
        try await incoming(filter, after: id, limit: limit).map(\.id.rawValue)
    }

    func summary() async throws -> StoreSummary { try await store.summary(of: scope) }
    func packetIDs() async throws -> Set<UInt16> { try await store.incomingPacketIDs(in: scope) }
    func subscriptions() async throws -> [StoredSubscription] { try await store.subscriptions(in: scope) }

    func snapshot() async throws -> Snapshot {
        Snapshot(
            outgoing: try await outgoing(), incoming: try await incoming(), rejected: try await rejected(),
            packetIDs: try await packetIDs(), subscriptions: Set(try await subscriptions()),
            summary: try await summary())
    }

    // MARK: Test data

    static func message(
        _ id: UInt64, topic: String = "laws/topic", payload: [UInt8]? = nil, qos: QoS = .one, expiresAt: Date? = nil
    ) -> StoredMessage {
        StoredMessage(
            id: StoredMessage.ID(rawValue: id), topic: topic, payload: payload ?? Array("message \(id)".utf8), qos: qos,
            storedAt: moment, expiresAt: expiresAt)
    }

    /// A date that every storage format represents exactly.
    static let moment = Date(timeIntervalSinceReferenceDate: 800_000_000.5)

    static func id(_ number: UInt64) -> StoredMessage.ID { StoredMessage.ID(rawValue: number) }
}

/// Counts completions that were called again.
final class CompletionSurplus: Sendable {
    private let calls = Atomic(0)
    var count: Int { calls.load(ordering: .sequentiallyConsistent) }
    func add() { calls.add(1, ordering: .sequentiallyConsistent) }
}

/// Recognizes the first call of a completion. Later calls are counted in `CompletionSurplus`.
final class Once: Sendable {
    private let isTaken = Atomic(false)
    private let surplus: CompletionSurplus

    init(surplus: CompletionSurplus) { self.surplus = surplus }

    func take() -> Bool {
        let wasTaken = isTaken.exchange(true, ordering: .sequentiallyConsistent)
        if wasTaken { surplus.add() }
        return !wasTaken
    }
}
