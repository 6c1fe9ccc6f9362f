public import Foundation

/// One change of a stored message, packet id or subscription.
///
/// A change to a row that does not exist is no error and does nothing. A batch can therefore be repeated after a crash.
public enum StoreChange: Hashable, Sendable {
    // MARK: Outgoing messages

    /// Store a new message, with the progress ``StoredOutgoing/Progress/queued``.
    case enqueue(StoredMessage)
    /// Set the progress of the message's delivery. It is `queued` again if the broker lost the session.
    case progress(StoredMessage.ID, StoredOutgoing.Progress)
    /// Remove an outgoing message, because it was acknowledged, refused, replaced or given up, or has expired.
    case removeOutgoing(StoredMessage.ID)
    /// Set how many connections the broker ended after it had received the message. The count replaces the earlier
    /// count. A store may ignore this change; the client then counts from 0 in each process.
    case strike(StoredMessage.ID, count: Int)
    /// Move a message that the client gave up, with the reason, from the outgoing to the rejected messages. A later
    /// read of outgoing messages does not return it, as after ``removeOutgoing(_:)``.
    ///
    /// A store decides how many rejected messages it keeps, and removes the oldest first. They take no room from new
    /// messages: the store's limits and ``StoreSummary`` do not count them. A store that keeps no rejected messages
    /// handles this change like ``removeOutgoing(_:)``. If a store ignored the change, the message would be sent again.
    case reject(StoredMessage.ID, reason: String, at: Date)
    /// Remove a rejected message.
    case removeRejected(StoredMessage.ID)

    // MARK: Incoming messages

    /// Store a received message that no reader has taken.
    case keep(StoredMessage)
    /// Remove an incoming message, because a reader has taken it.
    case removeIncoming(StoredMessage.ID)
    /// Remove incoming messages that have expired at this time. ``StoredMessage/isOver(at:)`` decides.
    case removeExpired(at: StoreTime)
    /// Store the packet id of a received QoS 2 message until its PUBREL arrives, so that the client recognizes a
    /// repetition.
    case rememberPacketID(UInt16)
    /// Remove the packet id, because PUBREL arrived.
    case forgetPacketID(UInt16)
    /// Remove all packet ids, because the broker has no session.
    case forgetAllPacketIDs
    /// Store the session (client id and broker) that the packet ids of outgoing and incoming messages belong to from
    /// now on. It replaces the earlier session. Rows do not change, because the client has removed their packet ids
    /// before.
    ///
    /// A store may ignore this change. Messages of QoS 2 that are unfinished when the process ends may then arrive
    /// twice, unless the session's client id and broker equal those of the scope.
    case rememberSession(StoreScope)

    // MARK: Subscriptions

    /// Store what the client intends for the filter. It replaces an earlier intent.
    case want(StoredSubscription)
    /// Remove the filter, because the broker confirmed the unsubscription.
    case forgetSubscription(TopicFilter)

    // MARK: All rows of the scope

    /// Remove all rows and rejected messages of the scope, and its session. Message ids continue to grow.
    case removeAll
}

extension StoreChange {
    /// Removes incoming messages that have expired at this date. It ignores the time since the boot.
    ///
    /// - Parameter date: The present date.
    /// - Returns: The change.
    public static func removeExpired(at date: Date) -> StoreChange { .removeExpired(at: StoreTime(date: date)) }
}
