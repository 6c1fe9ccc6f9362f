public import MQTTCodec

/// What a ``BrokerMachine`` offers, whom it lets in, and how much of everything it keeps.
///
/// ```swift
/// var configuration = BrokerConfiguration()
/// configuration.authentication = .accounts([.init(username: "ada", password: SecretBytes("lace"))])
/// configuration.maximumQueuedMessages = 10
/// let machine = BrokerMachine(configuration: configuration)
/// ```
public struct BrokerConfiguration: Sendable {
    // Who may do what.

    /// The versions of MQTT that are spoken, all three by default; a CONNECT of another is refused with 0x84.
    public var versions: Set<ProtocolVersion> = Set(ProtocolVersion.allCases)
    /// Who may connect; everybody by default.
    public var authentication = BrokerAuthentication.allowAll
    /// What a client may publish and subscribe to; everything by default.
    public var access = BrokerAccessPolicy.allowAll

    // What is offered. MQTT 5 clients are told in CONNACK; whoever does it nevertheless is refused.

    /// The highest QoS of a PUBLISH from a client, and the highest that a subscription is granted; 2 by default.
    public var maximumQoS = PacketQoS.exactlyOnce
    /// Whether retained messages are kept; `true` by default.
    public var isRetainAvailable = true
    /// Whether filters may have wildcards; `true` by default.
    public var isWildcardSubscriptionAvailable = true
    /// Whether subscriptions may have identifiers; `true` by default.
    public var isSubscriptionIdentifierAvailable = true
    /// Whether `$share/` subscriptions are possible; `true` by default.
    public var isSharedSubscriptionAvailable = true
    /// Whether a payload that claims to be UTF-8 is refused with 0x99 when it is not; `false` by default.
    public var validatesPayloadFormat = false
    /// The start of the client identifiers that the broker assigns; a number follows. `auto-` by default.
    public var assignedClientIDPrefix = "auto-"

    // Time.

    /// Closes a connection without a CONNECT after this long, counted from its opening; 10 s by default.
    public var connectTimeout = Duration.seconds(10)
    /// The keep-alive in seconds that MQTT 5 clients must use in place of their own; `nil`, their own, by default.
    public var serverKeepAlive: UInt16?
    /// The longest time that a session outlives its connection; `nil`, no limit, by default.
    ///
    /// An MQTT 5 client that asks for more is told; it also bounds the stored sessions of MQTT 3.
    public var maximumSessionExpiry: Duration?

    // Limits on connections and sessions.

    /// How many connections may be open; 1,000 by default. One more is closed as soon as it opens.
    public var maximumConnections = 1_000
    /// How many sessions are kept; 1,000 by default. A client that needs one more is refused with 0x97.
    public var maximumSessions = 1_000
    /// The longest client identifier in bytes; 1,024 by default. A longer one is refused with 0x85.
    public var maximumClientIDLength = 1_024
    /// How many subscriptions one session may have; 1,000 by default. One more is refused with 0x97.
    public var maximumSubscriptionsPerSession = 1_000

    // Limits on messages.

    /// The largest packet from a client in bytes; 1 MiB by default. A larger one is answered with 0x95.
    ///
    /// The decoder of each connection enforces it: make it with ``decoderLimits``.
    public var maximumPacketSize = 1_048_576
    /// The most properties that one list of a packet may have; 256 by default. More are answered with 0x97.
    public var maximumProperties = 256
    /// The most levels of a topic or filter; 128 by default. More are refused with 0x90 or 0x8F.
    public var maximumTopicLevels = 128
    /// How many QoS 2 messages of a client may wait for PUBREL on one connection; 100 by default, at least 1.
    ///
    /// It is advertised to MQTT 5 clients as the receive maximum; one that sends more is answered with 0x93. QoS 1
    /// messages are acknowledged at once and never wait. Clients of MQTT 3 are bounded by the 65,535 packet ids.
    public var receiveMaximum: UInt16 = 100
    /// How many QoS 1 and 2 messages to a client may be unacknowledged; 1,000 by default. The rest is queued.
    ///
    /// The smaller of this and the client's own receive maximum holds.
    public var maximumInFlight: UInt16 = 1_000
    /// How many QoS 1 and 2 messages wait for one session; 1,000 by default. Then ``queueOverflow`` decides.
    public var maximumQueuedMessages = 1_000
    /// How many bytes of topics, payloads and properties wait for one session; 16 MiB by default. Then
    /// ``queueOverflow`` decides.
    public var maximumQueuedBytes = 16 * 1_048_576
    /// Which message is lost when a session's queue is full; the new one by default.
    public var queueOverflow = QueueOverflow.dropNewest
    /// How many retained messages are kept; 10,000 by default. A message that would be one more is refused with 0x97.
    ///
    /// One SUBSCRIBE brings no more than that either, however many of its filters match the same messages; the rest is
    /// dropped.
    public var maximumRetainedMessages = 10_000
    /// How many bytes of retained messages are kept, and brought by one SUBSCRIBE; 64 MiB by default. A message over it is
    /// refused with 0x97.
    public var maximumRetainedBytes = 64 * 1_048_576
    /// The highest topic alias that a client may use on one connection; 32 by default, 0 for none.
    public var topicAliasMaximum: UInt16 = 32
    /// How many topic aliases the broker itself uses on one connection, where the client allows it; 0, none, by default.
    ///
    /// The first topics that are sent get one and keep it; those that come later are spelled out.
    public var maximumOutgoingTopicAliases: UInt16 = 0

    /// What happens to a message for a session whose queue is full.
    public enum QueueOverflow: Hashable, Sendable {
        /// The message that has waited longest is dropped, or the new one when it is larger than the whole queue may be.
        case dropOldest
        /// The new message is dropped.
        case dropNewest
    }

    /// Makes a configuration of the defaults.
    public init() {}

    /// The limits for the decoder of a connection.
    public var decoderLimits: PacketDecoder.Limits {
        PacketDecoder.Limits(maximumPacketSize: maximumPacketSize, maximumProperties: maximumProperties)
    }
}
