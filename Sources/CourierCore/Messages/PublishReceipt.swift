/// The result of a published message. For QoS 1 and 2, the receipt contains the broker's acknowledgement. For QoS 0,
/// the client creates the receipt, because brokers do not acknowledge QoS 0.
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
