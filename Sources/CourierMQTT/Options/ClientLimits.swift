/// Limits for the messages that a client sends, receives and keeps in memory, and for the client's texts.
///
/// ```swift
/// config.limits.maximumInFlight = 100
/// ```
public struct ClientLimits: Hashable, Sendable {
    /// The largest number of QoS 1 and 2 messages from the broker that this client has not acknowledged yet (MQTT 5);
    /// 65,535 by default. A message beyond this number is not lost: the client delivers the message when the broker
    /// sends it again.
    public var receiveMaximum = UInt16.max

    /// The largest number of QoS 1 and 2 messages from this client that the broker has not acknowledged yet. By default
    /// (`nil`), the number is 1,000 with MQTT 5, or the broker's limit if that is lower. With MQTT 3.1.1 and 3.1, the
    /// default is 20. With these versions, a broker cannot announce its limit, and some brokers close the connection
    /// when it is exceeded.
    public var maximumInFlight: Int?

    /// The size of the largest packet that is read, in bytes; 16 MiB by default. A larger packet ends the connection.
    ///
    /// Before MQTT 5, the broker does not know this limit, and would send a larger message again and again. So the
    /// client acknowledges such a message without storing it, and `messageReceiveFailure` reports it.
    public var maximumPacketSize = 16 << 20

    /// The maximum number of messages that the client keeps because they have no reader; 10,000 by default. The client
    /// keeps such messages only if ``MQTTClientConfig/messagePersistenceTTLSeconds`` is set. When the maximum is
    /// reached, a further message is acknowledged and dropped, and `messageReceiveFailure` reports it.
    public var maximumKeptMessages = 10_000

    /// The maximum size of the messages that the client keeps because they have no reader, in bytes; 16 MiB by default.
    /// The size includes topics, properties, payloads and bookkeeping. With a message store, the limit applies only to
    /// messages that are not stored yet. When these messages reach the limit, the client stops reading until some of
    /// them are stored. The store has its own limit.
    public var maximumKeptBytes = 16 << 20

    /// The texts that the client may send; by default, the texts that every common broker accepts
    /// (``TextPolicy/portable``). If a topic, client id, user name or property has another text, the call throws an
    /// error.
    public var textPolicy = TextPolicy.portable

    /// Makes limits with the default values.
    public init() {}
}
