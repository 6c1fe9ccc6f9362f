import MQTTCodec

/// What belongs to one connection and ends with it: what was agreed on, and the times that are watched.
struct Link {
    typealias Instant = ContinuousClock.Instant

    let decoder: PacketDecoder
    var encoder: PacketEncoder
    /// The longest silence of ours that the server tolerates; `nil` is any.
    private(set) var keepAlive: Duration?
    private(set) var maximumQoS = PacketQoS.exactlyOnce
    private(set) var isRetainAvailable = true
    /// How many more QoS 1 and 2 messages may be sent (4.9).
    private(set) var quota = 0
    private var quotaLimit = 0
    var outgoingAliases = OutgoingAliases(limit: 0)
    var incomingAliases: IncomingAliases
    /// Exchanges of an earlier connection that wait for their turn to be sent again, the next one last.
    var resendStack: [PacketID] = []

    /// When a packet was last written on this connection: the server's clock starts there ([MQTT-3.1.2-20]).
    var lastSent: Instant?
    /// When the PINGREQ was written that has no answer yet.
    var pingSentAt: Instant?
    /// Whether the caller reads no bytes for now.
    var isReadingPaused = false
    /// When acknowledgements are next looked at; `nil` while none is due.
    var acknowledgementCheck: Instant?

    init(_ configuration: EngineConfiguration, _ version: ProtocolVersion) {
        decoder = PacketDecoder(
            version: version, sender: .server,
            limits: PacketDecoder.Limits(maximumPacketSize: configuration.maximumPacketSize))
        encoder = PacketEncoder(version: version, sender: .client)
        incomingAliases = IncomingAliases(maximum: version >= .v5 ? configuration.incomingTopicAliases : 0)
    }

    var version: ProtocolVersion { encoder.version }

    /// Takes over what the server said when it accepted.
    mutating func accepted(_ connAck: ConnAck, _ configuration: EngineConfiguration) {
        let properties = connAck.properties
        let seconds = properties.serverKeepAlive ?? configuration.connect.keepAlive  // [MQTT-3.1.2-21]
        keepAlive = seconds == 0 ? nil : .seconds(Int64(seconds))
        maximumQoS = properties.maximumQoS ?? .exactlyOnce
        isRetainAvailable = properties.retainAvailable ?? true
        quotaLimit = min(max(configuration.maximumInFlight, 1), Int(properties.receiveMaximum ?? .max))
        quota = quotaLimit
        if let size = properties.maximumPacketSize { encoder.maximumPacketSize = Int(size) }  // [MQTT-3.2.2-15]
        outgoingAliases = OutgoingAliases(
            limit: Int(min(configuration.outgoingTopicAliases, properties.topicAliasMaximum ?? 0)))
    }

    mutating func takeQuota() { quota -= 1 }

    /// An exchange ended; quota beyond the limit is not kept (4.9).
    mutating func returnQuota() { quota = min(quota + 1, quotaLimit) }
}
