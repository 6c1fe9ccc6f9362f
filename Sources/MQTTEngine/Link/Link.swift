import MQTTCodec

/// What belongs to one connection and ends with it: what was agreed on, and the times that are watched.
struct Link {
    let decoder: PacketDecoder
    var encoder: PacketEncoder
    /// The longest silence of ours that the server tolerates; `nil` is any.
    private(set) var keepAlive: Duration?
    private(set) var maximumQoS = PacketQoS.exactlyOnce
    private(set) var isRetainAvailable = true
    /// How many more QoS 1 and 2 messages may be sent (4.9).
    private(set) var quota = 0
    private var quotaLimit = 0
    /// How many of the messages that hold quota are past PUBREC.
    private var releasedCount = 0
    /// How many messages have had their turn on this connection and wait for PUBACK or PUBREC.
    var unacknowledgedPublishCount: Int { quotaLimit &- quota &- releasedCount }
    /// When the last PUBLISH of QoS 0 was written.
    var unacknowledgeableSentAt: MonotonicInstant?
    /// The PUBLISH packets without an answer when the connection ended; `nil` while it lasts.
    var unacknowledgedAtEnd: UnacknowledgedPublishes?
    var outgoingAliases = OutgoingAliases(limit: 0)
    var incomingAliases: IncomingAliases
    /// Exchanges of an earlier connection that wait for their turn to be sent again, the next one last.
    var resendStack: [PacketID] = []

    /// When a packet was last written on this connection: the server's clock starts there ([MQTT-3.1.2-20]).
    var lastSent: MonotonicInstant?
    /// When the PINGREQ was written that has no answer yet.
    var pingSentAt: MonotonicInstant?
    /// Whether the server answered PUBLISH of QoS 2 by PUBACK, and the caller knows.
    var isDowngradeKnown = false
    /// Whether the caller reads no bytes for now.
    var isReadingPaused = false
    /// When acknowledgements are next looked at; `nil` while none is due.
    var acknowledgementCheck: MonotonicInstant?

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
        let wanted =
            version >= .v5 ? configuration.maximumInFlight : configuration.maximumInFlightBeforeVersion5
        quotaLimit = min(max(wanted, 1), Int(properties.receiveMaximum ?? .max))
        quota = quotaLimit
        if let size = properties.maximumPacketSize { encoder.maximumPacketSize = Int(size) }  // [MQTT-3.2.2-15]
        outgoingAliases = OutgoingAliases(
            limit: Int(configuration.outgoingTopicAliases), maximum: properties.topicAliasMaximum ?? 0,
            fixed: configuration.fixedTopicAliases)
    }

    @inline(__always)
    mutating func takeQuota() { quota -= 1 }

    /// An exchange ended; quota beyond the limit is not kept (4.9).
    mutating func returnQuota() { quota = min(quota + 1, quotaLimit) }

    /// PUBREC came for a message. The message holds its quota until PUBCOMP.
    mutating func received() { releasedCount += 1 }

    /// A message that was past PUBREC has ended. Its quota is returned by ``returnQuota()``.
    mutating func completed() { releasedCount -= 1 }
}

extension Link {
    /// Writes `message` as a PUBLISH; only the first time it may go by an alias, which the server then knows, and not when
    /// that alone makes it too large.
    @inline(__always)
    mutating func write(
        _ message: MessageView, _ delivery: Delivery, isFirst: Bool, now: MonotonicInstant,
        into buffer: inout PacketBuffer
    ) throws(EncodeError) {
        guard version >= .v5 else {
            // Properties are left out: what they say has no place in older versions.
            return try encoder.encodePublish(
                topic: message.topic.bytes, payload: message.payload.bytes, delivery: delivery,
                isRetained: message.header.isRetained, into: &buffer)
        }
        let expiry = message.header.expiresAt.map { Self.wholeSeconds(from: now, to: $0) }
        switch isFirst ? outgoingAliases.use(for: message.topic) : .none {
        case .none: try write(message, delivery, topic: message.topic, expiry, into: &buffer)
        case .replace(let alias):
            let noTopic = UnsafeRawBufferPointer(start: nil, count: 0)
            do throws(EncodeError) {
                try write(message, delivery, topic: noTopic, expiry, alias, into: &buffer)
            } catch {
                try writeWithoutAlias(after: error, message, delivery, expiry, into: &buffer)
            }
        case .define(let alias):
            do throws(EncodeError) {
                try write(message, delivery, topic: message.topic, expiry, alias, into: &buffer)
            } catch {
                outgoingAliases.forget(alias)
                try writeWithoutAlias(after: error, message, delivery, expiry, into: &buffer)
            }
        }
    }

    /// The server's limit is for the packet that is sent ([MQTT-3.2.2-15]), and none has to have an alias.
    @inline(never)
    private func writeWithoutAlias(
        after error: EncodeError, _ message: MessageView, _ delivery: Delivery, _ expiry: UInt32?,
        into buffer: inout PacketBuffer
    ) throws(EncodeError) {
        guard case .packetTooLarge = error.violation else { throw error }
        try write(message, delivery, topic: message.topic, expiry, into: &buffer)
    }

    @inline(__always)
    private func write(
        _ message: MessageView, _ delivery: Delivery, topic: UnsafeRawBufferPointer, _ expiry: UInt32?,
        _ alias: UInt16? = nil, into buffer: inout PacketBuffer
    ) throws(EncodeError) {
        try encoder.encodePublish(
            topic: topic.bytes, payload: message.payload.bytes, delivery: delivery,
            isRetained: message.header.isRetained, encodedProperties: message.properties.bytes, messageExpiry: expiry,
            topicAlias: alias, into: &buffer)
    }

    /// The seconds from `now` to `end`, rounded up, as a message expiry interval; at least 1. A message that is sent again
    /// may be older than that, and 0 is no end at all for some servers.
    private static func wholeSeconds(from now: MonotonicInstant, to end: MonotonicInstant) -> UInt32 {
        let left = now.duration(to: end).components
        guard left.seconds >= 0, left.attoseconds >= 0 else { return 1 }
        return max(1, UInt32(clamping: left.attoseconds > 0 ? left.seconds.addingClamped(1) : left.seconds))
    }
}

extension Int64 {
    fileprivate func addingClamped(_ other: Int64) -> Int64 {
        let (sum, isOverflow) = addingReportingOverflow(other)
        return isOverflow ? .max : sum
    }
}
