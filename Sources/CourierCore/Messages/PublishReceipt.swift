/// The broker's acknowledgement of a published message. For QoS 0, which brokers do not acknowledge, the client creates
/// the receipt.
public struct PublishReceipt: Hashable, Sendable {
    /// The result of the delivery. The code is never an error code, because a failed delivery is reported as an error
    /// instead of a receipt. ``ReasonCode/noMatchingSubscribers`` means that no client subscribes to the topic.
    public let reasonCode: ReasonCode

    /// The broker's explanation as text (MQTT 5); `nil` if the broker sent none.
    public let reasonString: String?

    /// Creates a receipt.
    ///
    /// - Parameters:
    ///   - reasonCode: The result of the delivery; `.success` by default.
    ///   - reasonString: The broker's text; `nil` by default.
    public init(reasonCode: ReasonCode = .success, reasonString: String? = nil) {
        self.reasonCode = reasonCode
        self.reasonString = reasonString
    }
}
