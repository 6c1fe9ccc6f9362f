import CourierCore
import Foundation
import MQTTCodec

/// What an earlier process left of a session, read before the first connection.
struct StoredSession: Sendable {
    /// Outgoing messages that were sent and have not ended, in order.
    var unfinished: [StoredOutgoing] = []
    /// The first of those that were never sent, or have the packet id of another one and are to be sent anew.
    var queued: [StoredOutgoing] = []
    /// Whether there are more behind them.
    var hasMore = false
    /// QoS 2 messages that were received and whose PUBREL has not come.
    var packetIDs: Set<UInt16> = []
    var subscriptions: [StoredSubscription] = []
    /// How many received messages wait for a reader.
    var incomingCount = 0
    /// The highest id that was ever given out.
    var lastID: UInt64 = 0

    /// How many rows are read at a time.
    static let pageSize = 500

    /// Reads what `store` has for `scope`.
    static func load(_ scope: StoreScope, from store: any MessageStore) async throws -> StoredSession {
        var session = StoredSession()
        let summary = try await store.summary(of: scope)
        session.lastID = summary.lastMessageID?.rawValue ?? 0
        session.incomingCount = summary.incomingCount
        session.packetIDs = try await store.incomingPacketIDs(in: scope)
        session.subscriptions = try await store.subscriptions(in: scope)
        var usedIDs: Set<UInt16> = []
        var last: StoredMessage.ID?
        // Messages are sent in the order of their rows, so those that were sent stand at the front.
        while true {
            let page = try await store.outgoing(in: scope, after: last, limit: pageSize)
            let sentBefore = session.unfinished.count
            for row in page {
                if let id = row.progress.packetID, usedIDs.insert(id).inserted {
                    session.unfinished.append(row)
                } else {
                    session.queued.append(row)
                }
            }
            last = page.last?.message.id
            session.hasMore = page.count == pageSize
            if !session.hasMore || session.unfinished.count == sentBefore { return session }
        }
    }
}

extension StoredOutgoing.Progress {
    var packetID: UInt16? {
        switch self {
        case .queued: nil
        case .sent(let id), .received(let id): id
        }
    }
}
