import MQTTCodec

/// One connection whose CONNECT was accepted, with all that is forgotten when it ends.
struct BrokerLink: Sendable {
    typealias Instant = ContinuousClock.Instant

    let version: ProtocolVersion
    let session: SessionID
    let username: String?
    /// What is published when the connection ends without a normal DISCONNECT.
    let will: BrokerWill?
    /// After how long a silence the client counts as lost: 1.5 times the keep-alive ([MQTT-3.1.2-22]).
    let silenceLimit: Duration?
    var lastHeard: Instant
    /// How many QoS 1 and 2 messages the client takes at a time.
    let receiveMaximum: Int
    /// The largest packet that the client takes.
    let maximumPacketSize: Int?
    /// Whether the session was to end with the connection when it began, which DISCONNECT may not change (3.14.2.2.2).
    let endsSession: Bool
    /// The topics that the client gave an alias, for this connection only ([MQTT-3.3.2-7]).
    var incomingAliases: [UInt16: String] = [:]
    /// The aliases that the broker gave out.
    var outgoingAliases: OutgoingAliases
    /// The QoS 2 messages that came on this connection and wait for PUBREL.
    var unreleased: Set<PacketID> = []
    /// Whether the connection takes no more messages for now.
    var isCongested = false

    /// When the client counts as lost. Not while it is congested: what it says is not read then, its pings included.
    var deadline: Instant? { isCongested ? nil : silenceLimit.map { lastHeard.advanced(by: $0) } }
}

/// The topic aliases that the broker uses on one connection: the first topics get one and keep it.
struct OutgoingAliases: Sendable {
    private var aliases: [ExactText: UInt16] = [:]
    private let limit: UInt16

    init(limit: UInt16) { self.limit = limit }

    /// Replaces the topic of `publish` by its alias, or adds the alias that it will get by ``commit(_:)``.
    func apply(to publish: inout Publish) {
        guard limit > 0 else { return }
        if let alias = aliases[ExactText(publish.topic)] {
            publish.topic = ""
            publish.properties.append(.topicAlias(alias))
        } else if aliases.count < Int(limit) {
            publish.properties.append(.topicAlias(UInt16(aliases.count + 1)))
        }
    }

    /// `publish` is really sent, so that the client knows its alias from now on.
    mutating func commit(_ publish: Publish) {
        guard limit > 0, !publish.topic.isEmpty, let alias = publish.properties.topicAlias else { return }
        aliases[ExactText(publish.topic)] = alias
    }
}
