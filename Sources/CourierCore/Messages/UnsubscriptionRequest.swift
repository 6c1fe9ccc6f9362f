/// A topic filter to unsubscribe from, and the properties of the UNSUBSCRIBE packet.
///
/// Later versions may add fields with defaults that preserve the current behavior.
public struct UnsubscriptionRequest: Sendable {
    /// The topic of the subscription, with the same parameter values as in the subscription.
    public var topic: TopicTemplate

    /// The user properties of UNSUBSCRIBE in MQTT 5, in this order; empty by default, at most 256. They are not sent
    /// with MQTT 3.1.1.
    public var userProperties: [UserProperty]

    /// Creates a request.
    ///
    /// - Parameters:
    ///   - topic: The topic of the subscription.
    ///   - userProperties: The user properties of UNSUBSCRIBE; none by default.
    public init(topic: TopicTemplate, userProperties: [UserProperty] = []) {
        self.topic = topic
        self.userProperties = userProperties
    }
}
