/// What a reader subscribes to, and how.
///
/// Later versions may add fields with defaults that keep today's behaviour.
public struct SubscriptionRequest: Sendable {
    /// The topic; parameters without a value stand for any level.
    public var topic: TopicTemplate

    /// The highest quality of service with which the broker is to deliver, ``QoS/one`` by default.
    public var qos: QoS

    /// Collects the options.
    ///
    /// - Parameters:
    ///   - topic: The topic.
    ///   - qos: The highest quality of service; `.one` by default.
    public init(topic: TopicTemplate, qos: QoS = .one) {
        self.topic = topic
        self.qos = qos
    }
}
