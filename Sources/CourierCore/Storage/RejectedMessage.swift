public import Foundation

/// An outgoing message that the client no longer sends, because the broker ended connections right after the message
/// was sent.
///
/// A store keeps a limited number of rejected messages for inspection; see ``StoreChange/reject(_:reason:at:)``.
public struct RejectedMessage: Hashable, Sendable {
    /// The message, and the state of its delivery.
    public let outgoing: StoredOutgoing

    /// The reason why the client no longer sends the message, as a sentence.
    public let reason: String

    /// The date when the client rejected the message.
    public let rejectedAt: Date

    /// The message.
    public var message: StoredMessage { outgoing.message }

    /// Creates a rejected message.
    ///
    /// - Parameters:
    ///   - outgoing: The message, and the state of its delivery.
    ///   - reason: The reason why the client no longer sends the message.
    ///   - rejectedAt: The date when the client rejected the message.
    public init(_ outgoing: StoredOutgoing, reason: String, rejectedAt: Date) {
        self.outgoing = outgoing
        self.reason = reason
        self.rejectedAt = rejectedAt
    }
}

extension RejectedMessage {
    /// The maximum number of rejected messages that a store of this package keeps for all scopes together: 1,000. If
    /// there are more, the store removes the oldest.
    package static let maximumCount = 1_000

    /// The maximum size of the payloads, topics and properties of all rejected messages together: 16 MiB. A single
    /// message that is larger is not kept.
    package static let maximumBytes = 16 << 20

    /// The maximum number of rejected messages and the maximum number of their bytes, as one value.
    package static let limit = StoreSize(rows: maximumCount, bytes: maximumBytes)
}
