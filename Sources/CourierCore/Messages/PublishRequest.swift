/// Where and how a value is to be published.
///
/// The convenience forms of `publish` fill it in; use it directly for what they do not name. Later versions may add
/// fields with defaults that keep today's behaviour.
public struct PublishRequest: Sendable {
    /// The topic; every parameter must have its value.
    public var topic: TopicTemplate

    /// The quality of service, ``QoS/one`` by default.
    public var qos: QoS

    /// Whether the broker keeps it for later subscribers; `false` by default.
    public var isRetained: Bool

    /// Whether it takes the place of an earlier message of this kind to the same topic that still waits for a
    /// connection; `false` by default. The earlier one fails with ``CourierError/Code-swift.struct/messageReplaced``.
    /// The order of the calls decides, also if only one of the messages is stored.
    public var isLatestOnly: Bool

    /// The properties of MQTT 5. Before MQTT 5 only ``MessageProperties/messageExpiry`` has an effect: on how long
    /// the message may wait here.
    public var properties: MessageProperties

    /// Collects the options.
    ///
    /// - Parameters:
    ///   - topic: The topic.
    ///   - qos: The quality of service; `.one` by default.
    ///   - isRetained: Whether the broker keeps it; `false` by default.
    ///   - isLatestOnly: Whether it replaces an earlier one that still waits; `false` by default.
    ///   - properties: The properties of MQTT 5; empty by default.
    public init(
        topic: TopicTemplate,
        qos: QoS = .one,
        isRetained: Bool = false,
        isLatestOnly: Bool = false,
        properties: MessageProperties = MessageProperties()
    ) {
        self.topic = topic
        self.qos = qos
        self.isRetained = isRetained
        self.isLatestOnly = isLatestOnly
        self.properties = properties
    }
}
