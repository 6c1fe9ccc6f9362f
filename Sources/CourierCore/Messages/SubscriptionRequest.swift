/// The topic of a subscription, and its options.
///
/// Later versions may add fields with defaults that preserve the current behavior.
public struct SubscriptionRequest: Sendable {
    /// The topic. A parameter without a value matches any level.
    public var topic: TopicTemplate

    /// The highest quality of service that the broker uses for this subscription, ``QoS/one`` by default.
    public var qos: QoS

    /// The mode of acknowledging messages of QoS 1 and 2; ``AcknowledgementMode/onReceipt`` by default.
    public var acknowledge: AcknowledgementMode

    /// The limits for messages that wait for the reader.
    public var buffer: ReadBuffer

    /// The subscription identifier of MQTT 5, from 1 to 268,435,455. With `nil`, the default, the client decides
    /// whether to use an identifier. The identifier is not sent with MQTT 3.1.1. If CONNACK forbids identifiers, the
    /// client leaves out the identifiers that it chose itself.
    ///
    /// The broker adds the identifier to each message that it sends for this filter. The app reads this identifier in
    /// ``MessageProperties/subscriptionIdentifiers``. Filters that match the same topics need different identifiers. If
    /// their identifiers are equal, a message may arrive once for each filter, as in MQTT 3.1.1.
    public var identifier: UInt32?

    /// The user properties of SUBSCRIBE in MQTT 5, in this order; empty by default, at most 256. They are sent with
    /// each SUBSCRIBE for this filter, and again after a reconnect. They are not sent with MQTT 3.1.1.
    ///
    /// If two requests for the same filter have different properties, the properties of the later request are used. A
    /// message store keeps neither the properties nor the identifier, so the next process must set them again.
    public var userProperties: [UserProperty]

    /// Creates a request.
    ///
    /// - Parameters:
    ///   - topic: The topic.
    ///   - qos: The highest quality of service; `.one` by default.
    ///   - acknowledge: The mode of acknowledging messages; `.onReceipt` by default.
    ///   - buffer: The limit of messages that wait for the reader; 16,384 by default.
    ///   - identifier: The subscription identifier of MQTT 5; by default, the client decides.
    ///   - userProperties: The user properties of SUBSCRIBE in MQTT 5; none by default.
    public init(
        topic: TopicTemplate,
        qos: QoS = .one,
        acknowledge: AcknowledgementMode = .onReceipt,
        buffer: ReadBuffer = ReadBuffer(),
        identifier: UInt32? = nil,
        userProperties: [UserProperty] = []
    ) {
        self.topic = topic
        self.qos = qos
        self.acknowledge = acknowledge
        self.buffer = buffer
        self.identifier = identifier
        self.userProperties = userProperties
    }
}
