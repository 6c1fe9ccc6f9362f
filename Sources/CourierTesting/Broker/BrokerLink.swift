import MQTTCodec

/// One connection whose CONNECT was accepted, with the state that is discarded when the connection ends.
struct BrokerLink: Sendable {
    typealias Instant = ContinuousClock.Instant

    let version: ProtocolVersion
    let session: SessionID
    let username: String?
    /// The will, which is published if the connection ends without a normal DISCONNECT.
    let will: BrokerWill?
    /// The time without packets after which the client counts as lost: 1.5 times the keep-alive ([MQTT-3.1.2-22]).
    /// `nil` if the keep-alive is 0.
    let silenceLimit: Duration?
    var lastHeard: Instant
    /// The maximum number of QoS 1 and 2 messages in flight to the client.
    let receiveMaximum: Int
    /// The maximum packet size of the client; `nil` for no limit.
    let maximumPacketSize: Int?
    /// True if CONNECT set the session expiry to 0. If so, a DISCONNECT must not set another expiry (3.14.2.2.2).
    let endsSession: Bool
    /// The topic of each alias that the client defined, for this connection only ([MQTT-3.3.2-7]).
    var incomingAliases: [UInt16: String] = [:]
    /// The aliases that the broker assigned.
    var outgoingAliases: OutgoingAliases
    /// The packet ids of QoS 2 messages that were received on this connection and wait for PUBREL.
    var unreleased: Set<PacketID> = []
    /// True while the send buffer of the connection is full.
    var isCongested = false

    /// The time at which the client counts as lost; `nil` without a keep-alive. Also `nil` during congestion, because
    /// the broker then reads no packets from the client, not even pings.
    var deadline: Instant? { isCongested ? nil : silenceLimit.map { lastHeard.advanced(by: $0) } }
}

/// The topic aliases that the broker uses on one connection. Each new topic gets an alias and keeps it. When all
/// aliases are in use, further topics get no alias.
struct OutgoingAliases: Sendable {
    private var aliases: [ExactText: UInt16] = [:]
    private let limit: UInt16

    init(limit: UInt16) { self.limit = limit }

    /// Replaces the topic of `publish` by the topic's alias. If the topic has no alias and an alias is free, adds the
    /// new alias to `publish`. The alias becomes valid when ``commit(_:)`` is called.
    func apply(to publish: inout Publish) {
        guard limit > 0 else { return }
        if let alias = aliases[ExactText(publish.topic)] {
            publish.topic = ""
            publish.properties.append(.topicAlias(alias))
        } else if aliases.count < Int(limit) {
            publish.properties.append(.topicAlias(UInt16(aliases.count + 1)))
        }
    }

    /// Records that `publish` is sent. Later messages may then use its new alias without the topic.
    mutating func commit(_ publish: Publish) {
        guard limit > 0, !publish.topic.isEmpty, let alias = publish.properties.topicAlias else { return }
        aliases[ExactText(publish.topic)] = alias
    }
}
