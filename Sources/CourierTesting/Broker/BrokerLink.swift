import MQTTCodec

/// One connection whose CONNECT was accepted, with the state that is discarded when the connection ends.
struct BrokerLink: Sendable {
    typealias Instant = ContinuousClock.Instant

    let version: ProtocolVersion
    let session: SessionID
    let username: String?
    /// The will, which is published if the connection ends without a normal DISCONNECT.
    let will: BrokerWill?
    /// The silence after which the client counts as lost: 1.5 times the keep-alive ([MQTT-3.1.2-22]).
    let silenceLimit: Duration?
    var lastHeard: Instant
    /// The maximum number of QoS 1 and 2 messages in flight to the client.
    let receiveMaximum: Int
    /// The maximum packet size of the client; `nil` for no limit.
    let maximumPacketSize: Int?
    /// Whether the session was to end with the connection when it began, which DISCONNECT may not change (3.14.2.2.2).
    let endsSession: Bool
    /// The topic of each alias that the client defined, for this connection only ([MQTT-3.3.2-7]).
    var incomingAliases: [UInt16: String] = [:]
    /// The aliases that the broker assigned.
    var outgoingAliases: OutgoingAliases
    /// The packet ids of QoS 2 messages that were received on this connection and wait for PUBREL.
    var unreleased: Set<PacketID> = []
    /// Whether the connection accepts no more messages for now.
    var isCongested = false

    /// The time at which the client counts as lost. `nil` during congestion, because the client's packets, including
    /// pings, are not read then.
    var deadline: Instant? { isCongested ? nil : silenceLimit.map { lastHeard.advanced(by: $0) } }
}

/// The topic aliases that the broker uses on one connection. The first topics get an alias and keep it.
struct OutgoingAliases: Sendable {
    private var aliases: [ExactText: UInt16] = [:]
    private let limit: UInt16

    init(limit: UInt16) { self.limit = limit }

    /// Replaces the topic of `publish` by its alias, or adds a new alias, which ``commit(_:)`` makes valid.
    func apply(to publish: inout Publish) {
        guard limit > 0 else { return }
        if let alias = aliases[ExactText(publish.topic)] {
            publish.topic = ""
            publish.properties.append(.topicAlias(alias))
        } else if aliases.count < Int(limit) {
            publish.properties.append(.topicAlias(UInt16(aliases.count + 1)))
        }
    }

    /// Records that `publish` is sent, so that the client knows its alias from now on.
    mutating func commit(_ publish: Publish) {
        guard limit > 0, !publish.topic.isEmpty, let alias = publish.properties.topicAlias else { return }
        aliases[ExactText(publish.topic)] = alias
    }
}
