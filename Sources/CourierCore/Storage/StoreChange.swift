public import Foundation

/// One change of a stored message, packet id or subscription.
///
/// If the message, packet id or subscription does not exist, the change has no effect and causes no error. So the
/// client can repeat a batch of changes after a crash.
public enum StoreChange: Hashable, Sendable {
    // MARK: Outgoing messages

    /// Store a new message, with the progress ``StoredOutgoing/Progress/queued``.
    case enqueue(StoredMessage)
    /// Set the progress of the message's delivery. The client sets `queued` again if the broker lost the session.
    case progress(StoredMessage.ID, StoredOutgoing.Progress)
    /// Remove an outgoing message, because it was acknowledged, refused, replaced, withdrawn or given up, or has
    /// expired.
    case removeOutgoing(StoredMessage.ID)
    /// Set the number of connections that the broker ended right after this message was sent. The new number replaces
    /// the earlier number. A store may ignore this change. Each process then counts from 0 again.
    case strike(StoredMessage.ID, count: Int)
    /// Move a message from the outgoing to the rejected messages, with the reason why the client no longer sends it.
    /// Later reads of outgoing messages do not return the message, as after ``removeOutgoing(_:)``.
    ///
    /// A store decides how many rejected messages it keeps, and removes the oldest first. The store's limits and
    /// ``StoreSummary`` do not count rejected messages. A store that keeps no rejected messages must handle this change
    /// like ``removeOutgoing(_:)``. Otherwise, the client would send the message again.
    case reject(StoredMessage.ID, reason: String, at: Date)
    /// Remove a rejected message.
    case removeRejected(StoredMessage.ID)

    // MARK: Incoming messages

    /// Store a received message that no reader has taken.
    case keep(StoredMessage)
    /// Remove an incoming message, because a reader has taken it.
    case removeIncoming(StoredMessage.ID)
    /// Remove incoming messages that have expired at this time, which means that ``StoredMessage/isOver(at:)`` returns
    /// `true`.
    case removeExpired(at: StoreTime)
    /// Store the packet id of a received QoS 2 message until its PUBREL arrives, so that the client recognizes a
    /// repetition of the message.
    case rememberPacketID(UInt16)
    /// Remove the packet id of a received QoS 2 message, because its PUBREL arrived.
    case forgetPacketID(UInt16)
    /// Remove the packet ids of all received QoS 2 messages, because the broker has no session for this client.
    case forgetAllPacketIDs
    /// Store the session (client id and broker) that the packet ids of outgoing and incoming messages belong to from
    /// now on. This session replaces the earlier session. The store changes no rows, because the client has already
    /// removed the packet ids of the earlier session.
    ///
    /// A store may ignore this change. Then, if the session has a different client id or broker than the scope, a QoS 2
    /// message may arrive twice. This happens only if the process ends before the delivery of the message is finished.
    case rememberSession(StoreScope)

    // MARK: Messages that wait for a handler

    /// Store a received message that a ``MessageProcessor`` must handle. Incoming messages and jobs share one sequence
    /// of ids.
    case addJob(StoredJob)
    /// Set the state of a job: its number of attempts and its stage. The size limits of a store need not include the
    /// state.
    case updateJob(StoredMessage.ID, StoredJob.State)
    /// Remove a job, because its message was handled, or because a parked message was removed.
    case removeJob(StoredMessage.ID)
    /// Store the key of a handled message. The new key replaces an equal key of the same processor.
    case rememberKey(ProcessedKey)
    /// Remove the keys of handled messages of a processor.
    case forgetKeys(processor: String, keys: [String])

    // MARK: Subscriptions

    /// Store whether the client wants to subscribe to the filter or to unsubscribe from it. The new intent replaces an
    /// earlier intent for the same filter.
    case want(StoredSubscription)
    /// Remove the topic filter from the stored subscriptions, because the broker confirmed the unsubscription.
    case forgetSubscription(TopicFilter)

    // MARK: All rows of the scope

    /// Remove all stored data of the scope, including its rejected messages and its session. The ids of later messages
    /// remain higher than all earlier ids.
    case removeAll
}

extension StoreChange {
    /// Returns a change that removes incoming messages that have expired at this date. The store compares only dates,
    /// and ignores the time since the boot.
    ///
    /// - Parameter date: The current date.
    /// - Returns: The change.
    public static func removeExpired(at date: Date) -> StoreChange { .removeExpired(at: StoreTime(date: date)) }
}
