/// A topic filter to unsubscribe from, and the properties of the UNSUBSCRIBE packet.
///
/// Later versions may add fields with defaults that keep today's behavior.
public struct UnsubscriptionRequest: Sendable {
    /// The topic as it was subscribed, with the same parameters open.
    public var topic: TopicTemplate

    /// The user properties of UNSUBSCRIBE in MQTT 5, in this order; empty by default, at most 256. MQTT 3.1.1 has none,
    /// and leaves them out.
    public var userProperties: [UserProperty]

    /// Collects the options.
    ///
    /// - Parameters:
    ///   - topic: The topic as it was subscribed.
    ///   - userProperties: The user properties of UNSUBSCRIBE; none by default.
    public init(topic: TopicTemplate, userProperties: [UserProperty] = []) {
        self.topic = topic
        self.userProperties = userProperties
    }
}
