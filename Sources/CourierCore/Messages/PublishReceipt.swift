/// The broker's answer to a published message. For QoS 0, which a broker does not acknowledge, the client makes it.
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
    ///   - reasonString: The broker's text; `nil` by default.
    public init(reasonCode: ReasonCode = .success, reasonString: String? = nil) {
        self.reasonCode = reasonCode
        self.reasonString = reasonString
    }
}
