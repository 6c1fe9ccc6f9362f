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

    // MARK: Incoming messages

    /// Keep a received message that no reader has taken.
    case keep(StoredMessage)
    /// A reader has taken it.
    case removeIncoming(StoredMessage.ID)
    /// Remove incoming messages whose time is over at this moment.
    case removeExpired(at: Date)
    /// Remember the packet id of a received QoS 2 message until its PUBREL, so that a repetition is known as one.
    case rememberPacketID(UInt16)
    /// PUBREL came: forget the packet id.
    case forgetPacketID(UInt16)
    /// The broker has no session: forget all packet ids.
    case forgetAllPacketIDs

    // MARK: Subscriptions

    /// The client wants this of the filter, whatever it wanted before.
    case want(StoredSubscription)
    /// The broker has confirmed the unsubscribing.
    case forgetSubscription(TopicFilter)

    // MARK: Everything

    /// Remove all rows of the scope. Message ids still go on growing.
    case removeAll
}
