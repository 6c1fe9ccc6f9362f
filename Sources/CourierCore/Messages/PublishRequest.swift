/// The topic, quality of service and options for publishing a value.
///
/// The forms of `publish` with separate parameters create a request. Create it yourself to set options that those forms
/// do not offer. Later versions may add fields with defaults that preserve the current behavior.
public struct PublishRequest: Sendable {
    /// The topic. Each parameter must have a value.
    public var topic: TopicTemplate

    /// The quality of service, ``QoS/one`` by default.
    public var qos: QoS

    /// Whether the broker keeps the message for later subscribers; `false` by default.
    public var isRetained: Bool

    /// Whether the message replaces an earlier latest-only message to the same topic that still waits to be sent;
    /// `false` by default. The replaced message fails with ``CourierError/Code-swift.struct/messageReplaced``. The
    /// message of the later call counts as the newer message, even if only one of the two messages is in a message
    /// store. If only the older message is stored, the client may send the newer message first, and the older message
    /// later.
    public var isLatestOnly: Bool

    /// The properties of MQTT 5. With MQTT 3.1.1, only ``MessageProperties/messageExpiry`` has an effect: it limits the
    /// time that the message may wait in the client.
    public var properties: MessageProperties

    /// Creates a request.
    ///
    /// - Parameters:
    ///   - topic: The topic.
    ///   - qos: The quality of service; `.one` by default.
    ///   - isRetained: Whether the broker keeps the message for later subscribers; `false` by default.
    ///   - isLatestOnly: Whether the message replaces an earlier latest-only message that still waits; `false` by
    ///     default.
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
