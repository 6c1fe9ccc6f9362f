/// The broker's word on a published message, or the client's own for QoS 0, which the broker never acknowledges.
public struct PublishReceipt: Hashable, Sendable {
    /// How it ended; never an error code, those are thrown. ``ReasonCode/noMatchingSubscribers`` says that nobody
    /// listens.
    public let reasonCode: ReasonCode

    /// What the broker added in words (MQTT 5), `nil` when it said nothing.
    public let reasonString: String?

    /// Makes a receipt.
    ///
    /// - Parameters:
    ///   - reasonCode: How it ended; `.success` by default.
    ///   - reasonString: The broker's words; `nil` by default.
    public init(reasonCode: ReasonCode = .success, reasonString: String? = nil) {
        self.reasonCode = reasonCode
        self.reasonString = reasonString
    }
}
