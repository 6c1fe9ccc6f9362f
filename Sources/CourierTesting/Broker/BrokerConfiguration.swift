public import MQTTCodec

/// The features, access rules and limits of a ``BrokerMachine``.
///
/// ```swift
/// var configuration = BrokerConfiguration()
/// configuration.authentication = .accounts([.init(username: "ada", password: SecretBytes("lace"))])
/// configuration.maximumQueuedMessages = 10
/// let machine = BrokerMachine(configuration: configuration)
/// ```
public struct BrokerConfiguration: Sendable {
    // Access.

    /// The supported versions of MQTT, all three by default. A CONNECT with another version is refused with 0x84.
    public var versions: Set<ProtocolVersion> = Set(ProtocolVersion.allCases)
    /// The clients that may connect; all by default.
    public var authentication = BrokerAuthentication.allowAll
    /// The topics that a client may publish and subscribe to; all by default.
    public var access = BrokerAccessPolicy.allowAll

    // Features of the broker. CONNACK announces them to MQTT 5 clients. If a client uses a missing feature anyway, the
    // broker refuses the client.

    /// The highest QoS of a PUBLISH from a client, and the highest QoS that the broker grants to a subscription; 2 by
    /// default.
    public var maximumQoS = PacketQoS.exactlyOnce
    /// Whether the broker stores retained messages; `true` by default.
    public var isRetainAvailable = true
    /// Whether filters may have wildcards; `true` by default.
    public var isWildcardSubscriptionAvailable = true
    /// Whether subscriptions may have identifiers; `true` by default.
    public var isSubscriptionIdentifierAvailable = true
    /// Whether `$share/` subscriptions are possible; `true` by default.
    public var isSharedSubscriptionAvailable = true
    /// Whether a message is refused with 0x99 if its sender declares the payload as UTF-8, but the payload is not
    /// UTF-8; `false` by default.
    public var validatesPayloadFormat = false
    /// The prefix of the client identifiers that the broker assigns; a number follows the prefix. `auto-` by default.
    public var assignedClientIDPrefix = "auto-"

    // Time.

    /// The time after which the broker closes a connection on which no CONNECT was received; 10 s by default. It is
    /// counted from the opening of the connection.
    public var connectTimeout = Duration.seconds(10)
    /// The keep-alive in seconds that replaces the value of MQTT 5 clients; `nil`, the default, keeps the client's
    /// value.
    public var serverKeepAlive: UInt16?
    /// The longest time that a session outlives its connection; `nil`, the default, means no limit.
    ///
    /// If an MQTT 5 client requests more, CONNACK contains the granted time. The limit also applies to the stored
    /// sessions of MQTT 3 clients.
    public var maximumSessionExpiry: Duration?

    // Limits on connections and sessions.

    /// The maximum number of open connections; 1,000 by default. Any further connection is closed as soon as it opens.
    public var maximumConnections = 1_000
    /// The maximum number of sessions; 1,000 by default. A client that needs a further session is refused with 0x97.
    public var maximumSessions = 1_000
    /// The maximum length of a client identifier in bytes; 1,024 by default. A longer identifier is refused with 0x85.
    public var maximumClientIDLength = 1_024
    /// The maximum number of subscriptions of one session; 1,000 by default. A further subscription is refused with
    /// 0x97.
    public var maximumSubscriptionsPerSession = 1_000

    // Limits on messages.

    /// The maximum size of a packet from a client in bytes; 1 MiB by default. If a packet is larger, the broker sends
    /// 0x95.
    ///
    /// The decoder of each connection enforces this limit. Make each decoder with ``decoderLimits``.
    public var maximumPacketSize = 1_048_576
    /// The maximum number of properties in one property list of a packet; 256 by default. If a packet has more
    /// properties, the broker sends 0x97.
    public var maximumProperties = 256
    /// The maximum number of levels of a topic or filter; 128 by default. A topic with more levels is refused with
    /// 0x90, a filter with 0x8F.
    public var maximumTopicLevels = 128
    /// The maximum number of a client's QoS 2 messages that wait for PUBREL on one connection; 100 by default, at least
    /// 1.
    ///
    /// MQTT 5 clients get this number as the receive maximum. If a client exceeds this number, the broker sends 0x93 to
    /// the client. QoS 1 messages are acknowledged at once, so they never wait. MQTT 3 clients are limited only by the
    /// 65,535 packet ids.
    public var receiveMaximum: UInt16 = 100
    /// The maximum number of unacknowledged QoS 1 and 2 messages to a client; 1,000 by default. Further messages are
    /// queued.
    ///
    /// If the client's own receive maximum is smaller than this number, the client's maximum applies.
    public var maximumInFlight: UInt16 = 1_000
    /// The maximum number of QoS 1 and 2 messages in the queue of one session; 1,000 by default. ``queueOverflow``
    /// decides which message is lost when the queue is full.
    public var maximumQueuedMessages = 1_000
    /// The maximum size of one session's queue in bytes of topics, payloads and properties; 16 MiB by default.
    /// ``queueOverflow`` decides which message is lost when the queue is full.
    public var maximumQueuedBytes = 16 * 1_048_576
    /// The message that is lost when a session's queue is full; the new message by default.
    public var queueOverflow = QueueOverflow.dropNewest
    /// The maximum number of retained messages; 10,000 by default. Any further message is refused with 0x97.
    ///
    /// One SUBSCRIBE delivers at most this many retained messages, even if several of its filters match the same
    /// messages. Further messages are dropped.
    public var maximumRetainedMessages = 10_000
    /// The maximum size of all retained messages together in bytes; 64 MiB by default. If a message does not fit, it is
    /// refused with 0x97. One SUBSCRIBE delivers at most this many bytes of retained messages.
    public var maximumRetainedBytes = 64 * 1_048_576
    /// The highest topic alias that a client may use on one connection; 32 by default, 0 for none.
    public var topicAliasMaximum: UInt16 = 32
    /// The maximum number of topic aliases that the broker uses on one connection, if the client allows them; 0 by
    /// default.
    ///
    /// Each new topic gets an alias and keeps it. When all aliases are in use, the names of further topics are sent in
    /// full.
    public var maximumOutgoingTopicAliases: UInt16 = 0

    /// The message that is dropped when the queue of a session is full.
    public enum QueueOverflow: Hashable, Sendable {
        /// The oldest messages are dropped until the new message fits. If the new message is larger than the limit of
        /// the whole queue, only the new message is dropped.
        case dropOldest
        /// The new message is dropped.
        case dropNewest
    }

    /// Makes a configuration with the default values.
    public init() {}

    /// The limits for the decoder of a connection.
    public var decoderLimits: PacketDecoder.Limits {
        PacketDecoder.Limits(maximumPacketSize: maximumPacketSize, maximumProperties: maximumProperties)
    }
}
