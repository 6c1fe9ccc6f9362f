import CourierCore
import Foundation

@testable import CourierSQLite

extension StoreScope {
    static let client = StoreScope(clientID: "client", broker: "broker:1883")
}

func id(_ number: UInt64) -> StoredMessage.ID { StoredMessage.ID(rawValue: number) }

func message(
    _ number: UInt64, _ topic: String = "a/b", bytes: Int = 10, qos: QoS = .one,
    properties: MessageProperties = MessageProperties(), expiresAt: Date? = nil, bootTime: BootTime? = nil,
    isLatestOnly: Bool = false
) -> StoredMessage {
    StoredMessage(
        id: id(number), topic: topic,
        payload: [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: bytes), qos: qos, properties: properties,
        storedAt: Date(timeIntervalSinceReferenceDate: 800_000_000.25), expiresAt: expiresAt, bootTime: bootTime,
        isLatestOnly: isLatestOnly)
}

extension SQLiteMessageStore {
    /// Commits the changes and waits for the result.
    func result(_ changes: [StoreChange], in scope: StoreScope = .client) async -> Result<Void, CourierError> {
        await withCheckedContinuation { continuation in
            commit(changes, in: scope) { continuation.resume(returning: $0) }
        }
    }

    func commit(_ changes: StoreChange..., in scope: StoreScope = .client) async throws {
        try await result(changes, in: scope).get()
    }

    /// Commits the changes, and returns the code of the error, or `nil` if they were accepted.
    func refusal(_ changes: [StoreChange], in scope: StoreScope = .client) async -> CourierError.Code? {
        if case .failure(let error) = await result(changes, in: scope) { error.code } else { nil }
    }

    func outgoingIDs(in scope: StoreScope = .client) async throws -> [UInt64] {
        try await outgoing(in: scope, after: nil, limit: .max).map(\.message.id.rawValue)
    }

    func contents(of scope: StoreScope = .client) async throws -> StoreContents {
        StoreContents(
            outgoing: try await outgoing(in: scope, after: nil, limit: .max),
            incoming: try await incoming(in: scope, matching: nil, after: nil, limit: .max),
            rejected: try await rejected(in: scope, after: nil, limit: .max),
            jobs: try await jobs(in: scope, after: nil, limit: .max),
            keys: Set(
                try await processedKeys(of: "orders", in: scope) + processedKeys(of: "bills", in: scope)),
            packetIDs: try await incomingPacketIDs(in: scope),
            subscriptions: try await subscriptions(in: scope), summary: try await summary(of: scope))
    }
}

/// All contents of a scope.
struct StoreContents: Equatable {
    var outgoing: [StoredOutgoing]
    var incoming: [StoredMessage]
    var rejected: [RejectedMessage] = []
    var jobs: [StoredJob] = []
    var keys: Set<ProcessedKey> = []
    var packetIDs: Set<UInt16>
    var subscriptions: [StoredSubscription]
    var summary: StoreSummary
}
