public import Foundation

/// An outgoing message that the client gave up because the broker ended the connection each time it was sent.
///
/// A store keeps some of them for inspection; see ``StoreChange/reject(_:reason:at:)``.
public struct RejectedMessage: Hashable, Sendable {
    /// The message, and how far its delivery had come.
    public let outgoing: StoredOutgoing

    /// Why the client gave it up, in a sentence.
    public let reason: String

    /// When the client gave it up.
    public let rejectedAt: Date

    /// The message.
    public var message: StoredMessage { outgoing.message }

    /// Collects the fields.
    ///
    /// - Parameters:
    ///   - outgoing: The message, and how far its delivery had come.
    ///   - reason: Why the client gave it up.
    ///   - rejectedAt: When the client gave it up.
    public init(_ outgoing: StoredOutgoing, reason: String, rejectedAt: Date) {
        self.outgoing = outgoing
        self.reason = reason
        self.rejectedAt = rejectedAt
    }
}

extension RejectedMessage {
    /// How many rejected messages a store of this package keeps for all scopes: 1,000. The oldest go first.
    package static let maximumCount = 1_000

    /// How many bytes of payloads, topics and properties they have together at most: 16 MiB. A larger message is not kept.
    package static let maximumBytes = 16 << 20

    /// The most that a store of this package keeps.
    package static let limit = StoreSize(rows: maximumCount, bytes: maximumBytes)
}
