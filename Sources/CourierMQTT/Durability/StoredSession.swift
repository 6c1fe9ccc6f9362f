import CourierCore
import Foundation
import MQTTCodec

/// The data of an earlier process's session, read from the message store before the first connection.
struct StoredSession: Sendable {
    /// Outgoing messages that were sent and are not completely acknowledged, in the order of their ids.
    var unfinished: [StoredOutgoing] = []
    /// The ids of sent messages whose packet id already belongs to an earlier message. A packet id can be used for one
    /// message only, so the client sends these messages again as new messages.
    var requeued: [StoredMessage.ID] = []
    /// The number of stored outgoing messages that are not in `unfinished`: messages that were never sent, and messages
    /// in `requeued`.
    var unreadCount = 0
    /// The packet ids of QoS 2 messages that this client has given up and marked as rejected. The broker may still use
    /// these ids, so the client gives them to no new message.
    var reservedIDs: Set<UInt16> = []
    /// The packet ids of received QoS 2 messages whose PUBREL has not arrived.
    var packetIDs: Set<UInt16> = []
    /// The session to which the packet ids belong; `nil` if the store does not know the session.
    var session: StoreScope?
    var subscriptions: [StoredSubscription] = []
    /// The number of received messages that wait for a reader.
    var incomingCount = 0
    /// The highest message id that was ever used in this scope.
    var lastID: UInt64 = 0

    /// The largest number of rows that are read at a time.
    static let pageSize = 500

    /// Loads the session's data of `scope`, a client id and a broker, from `store`.
    static func load(_ scope: StoreScope, from store: any MessageStore) async throws -> StoredSession {
        var session = StoredSession()
        let summary = try await store.summary(of: scope)
        session.lastID = summary.lastMessageID?.rawValue ?? 0
        session.incomingCount = summary.incomingCount
        session.session = summary.session
        session.packetIDs = try await store.incomingPacketIDs(in: scope)
        session.subscriptions = try await store.subscriptions(in: scope)
        var usedIDs: Set<UInt16> = []
        var last: StoredMessage.ID?
        // Read all pages, because the sent messages may not fit into one page.
        while true {
            let page = try await store.sentOutgoing(in: scope, after: last, limit: pageSize)
            for row in page {
                guard let id = row.progress.packetID else { continue }
                if usedIDs.insert(id).inserted {
                    session.unfinished.append(row)
                } else {
                    session.requeued.append(row.message.id)
                }
            }
            guard page.count == pageSize else { break }
            last = page.last?.message.id
        }
        var rejected: StoredMessage.ID?
        while true {
            let page = try await store.rejected(in: scope, after: rejected, limit: pageSize)
            for row in page where row.message.qos == .two {
                if let id = row.outgoing.progress.packetID, !usedIDs.contains(id) { session.reservedIDs.insert(id) }
            }
            guard page.count == pageSize else { break }
            rejected = page.last?.message.id
        }
        session.unreadCount = max(summary.outgoingCount - session.unfinished.count, 0)
        return session
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
