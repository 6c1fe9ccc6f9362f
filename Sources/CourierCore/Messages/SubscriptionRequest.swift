/// What a reader subscribes to, and how.
///
/// Later versions may add fields with defaults that keep today's behaviour.
public struct SubscriptionRequest: Sendable {
    /// The topic; parameters without a value stand for any level.
    public var topic: TopicTemplate

    /// The highest quality of service with which the broker is to deliver, ``QoS/one`` by default.
    public var qos: QoS

    /// When messages of QoS 1 and 2 are acknowledged, ``AcknowledgementMode/onReceipt`` by default.
    public var acknowledge: AcknowledgementMode

    /// How many messages may wait for the reader.
    public var buffer: ReadBuffer

    /// The subscription identifier of MQTT 5, from 1 to 268,435,455; `nil`, the default, leaves it to the client. MQTT 3.1.1
    /// has none, and leaves it out.
    ///
    /// The broker puts it into each message that it sends for this filter, where
    /// ``MessageProperties/subscriptionIdentifiers`` shows it. Filters that match the same topics need different identifiers:
    /// with the same one, a message may arrive once for each filter, as in MQTT 3.1.1.
    public var identifier: UInt32?

    /// The user properties of SUBSCRIBE in MQTT 5, in this order; empty by default, at most 256. They are sent with each
    /// SUBSCRIBE for this filter, also after a reconnect. MQTT 3.1.1 has none, and leaves them out.
    ///
    /// A filter has one set of properties: if two requests for the same filter differ, the later one counts. A message store
    /// keeps neither the properties nor the identifier; the next process has to name them again.
    public var userProperties: [UserProperty]

    /// Collects the options.
    ///
    /// - Parameters:
    ///   - topic: The topic.
    ///   - qos: The highest quality of service; `.one` by default.
    ///   - acknowledge: When messages are acknowledged; `.onReceipt` by default.
    ///   - buffer: How many messages may wait for the reader; 16,384 by default.
    ///   - identifier: The subscription identifier of MQTT 5; the client's choice by default.
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
