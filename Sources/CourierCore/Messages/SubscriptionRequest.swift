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

    /// Collects the options.
    ///
    /// - Parameters:
    ///   - topic: The topic.
    ///   - qos: The highest quality of service; `.one` by default.
    ///   - acknowledge: When messages are acknowledged; `.onReceipt` by default.
    ///   - buffer: How many messages may wait for the reader; 16,384 by default.
    public init(
        topic: TopicTemplate,
        qos: QoS = .one,
        acknowledge: AcknowledgementMode = .onReceipt,
        buffer: ReadBuffer = ReadBuffer()
    ) {
        self.topic = topic
        self.qos = qos
        self.acknowledge = acknowledge
        self.buffer = buffer
    }
}
