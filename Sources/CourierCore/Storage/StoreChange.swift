public import Foundation

/// One step in the life of a stored message, packet id or subscription.
///
/// Changes to what is not there any more are no error: they do nothing, so that a batch can be repeated after a
/// crash.
public enum StoreChange: Hashable, Sendable {
    // MARK: Outgoing messages

    /// Keep a new message, in state ``StoredOutgoing/Progress/queued``.
    case enqueue(StoredMessage)
    /// Its delivery has come this far; back to `queued` when the broker lost the session.
    case progress(StoredMessage.ID, StoredOutgoing.Progress)
    /// It was acknowledged, refused, replaced, has expired or was given up.
    case removeOutgoing(StoredMessage.ID)
    /// The broker ended the connection this many times after it had received the message. The count replaces the earlier
    /// one. A store may ignore it; the client then counts from 0 in each process.
    case strike(StoredMessage.ID, count: Int)
    /// The client gave the message up for this reason. It leaves the outgoing messages, as with
    /// ``removeOutgoing(_:)``, and is kept as a rejected one.
    ///
    /// A store keeps as many rejected messages as it likes, and the oldest go first. They never take room from new messages:
    /// no limit that refuses new ones counts them, and neither does ``StoreSummary``. A store that keeps none treats this change
    /// as ``removeOutgoing(_:)``. It must not ignore the change, or the message is sent again.
    case reject(StoredMessage.ID, reason: String, at: Date)
    /// Remove a rejected message.
    case removeRejected(StoredMessage.ID)

    // MARK: Incoming messages

    /// Keep a received message that no reader has taken.
    case keep(StoredMessage)
    /// A reader has taken it.
    case removeIncoming(StoredMessage.ID)
    /// Remove incoming messages whose lifetime is over at this moment, as ``StoredMessage/isOver(at:)`` says.
    case removeExpired(at: StoreTime)
    /// Remember the packet id of a received QoS 2 message until its PUBREL, so that a repetition is known as one.
    case rememberPacketID(UInt16)
    /// PUBREL came: forget the packet id.
    case forgetPacketID(UInt16)
    /// The broker has no session: forget all packet ids.
    case forgetAllPacketIDs
    /// From now on, the packet ids of outgoing and incoming messages are those of the session with this client id at this
    /// broker. It replaces the earlier session. It changes no rows; the client has forgotten their packet ids before.
    ///
    /// A store may ignore it. Messages of QoS 2 that are unfinished when the process ends may then arrive twice, unless the
    /// client id and the broker are those of the scope.
    case rememberSession(StoreScope)

    // MARK: Subscriptions

    /// The client wants this of the filter, whatever it wanted before.
    case want(StoredSubscription)
    /// The broker has confirmed the unsubscribing.
    case forgetSubscription(TopicFilter)

    // MARK: Everything

    /// Remove all rows of the scope, also the rejected messages, and forget the session. Message ids still continue growing.
    case removeAll
}

extension StoreChange {
    /// Removes incoming messages whose lifetime is over at this date, without regard to the time since the boot.
    ///
    /// - Parameter date: The date.
    /// - Returns: The change.
    public static func removeExpired(at date: Date) -> StoreChange { .removeExpired(at: StoreTime(date: date)) }
}
