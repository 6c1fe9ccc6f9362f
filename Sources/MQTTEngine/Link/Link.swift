import MQTTCodec

/// The state of one connection: the values that CONNACK agreed on, and the times for timeouts.
struct Link {
    let decoder: PacketDecoder
    var encoder: PacketEncoder
    /// The longest time during which the client may send no packet; `nil` for no limit.
    private(set) var keepAlive: Duration?
    private(set) var maximumQoS = PacketQoS.exactlyOnce
    private(set) var isRetainAvailable = true
    /// The number of QoS 1 and 2 messages that may be sent now (the send quota in MQTT 5.0, section 4.9).
    private(set) var quota = 0
    private var quotaLimit = 0
    /// The number of messages that still use the send quota (the limit for messages in flight) although their PUBREC
    /// has arrived, because they wait for PUBCOMP.
    private var releasedCount = 0
    /// The number of messages of this connection that use the send quota (the limit for messages in flight) and wait
    /// for PUBACK or PUBREC.
    var unacknowledgedPublishCount: Int { quotaLimit &- quota &- releasedCount }
    /// The time when the last QoS 0 PUBLISH was written.
    var unacknowledgeableSentAt: MonotonicInstant?
    /// The PUBLISH packets that had no answer when the connection ended; `nil` until the connection ends.
    var unacknowledgedAtEnd: UnacknowledgedPublishes?
    var outgoingAliases = OutgoingAliases(limit: 0)
    var incomingAliases: IncomingAliases
    /// The packet ids of messages of an earlier connection that wait to be sent again. The message of the last element
    /// is sent first.
    var resendStack: [PacketID] = []

    /// The time when a packet was last written on this connection. The keep-alive interval starts at this time
    /// ([MQTT-3.1.2-20]).
    var lastSent: MonotonicInstant?
    /// The time of the PINGREQ that has no answer yet; `nil` if every PINGREQ was answered.
    var pingSentAt: MonotonicInstant?
    /// True if the server has answered a QoS 2 PUBLISH with PUBACK on this connection. The engine reports this fact to
    /// the caller once.
    var isDowngradeKnown = false
    /// True while the caller reads no bytes.
    var isReadingPaused = false
    /// The PUBLISH whose payload is being discarded; `nil` if there is none.
    var skippedPublish: SkippedPublish?
    /// The time of the next check for overdue acknowledgements; `nil` if no check is needed.
    var acknowledgementCheck: MonotonicInstant?

    init(_ configuration: EngineConfiguration, _ version: ProtocolVersion) {
        decoder = PacketDecoder(
            version: version, sender: .server,
            limits: PacketDecoder.Limits(maximumPacketSize: configuration.maximumPacketSize))
        encoder = PacketEncoder(version: version, sender: .client)
        incomingAliases = IncomingAliases(maximum: version >= .v5 ? configuration.incomingTopicAliases : 0)
    }

    var version: ProtocolVersion { encoder.version }

    /// Applies the limits and the keep-alive interval from the server's CONNACK.
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
        // The server's limit ([MQTT-3.2.2-15]) can be 4,294,967,295, which does not fit into an `Int` of 32 bits.
        if let size = properties.maximumPacketSize { encoder.maximumPacketSize = Int(clamping: size) }
        outgoingAliases = OutgoingAliases(
            limit: Int(configuration.outgoingTopicAliases), maximum: properties.topicAliasMaximum ?? 0,
            fixed: configuration.fixedTopicAliases)
    }

    @inline(__always)
    mutating func takeQuota() { quota -= 1 }

    /// Increases the quota by 1, because the delivery of a message ended. The quota never exceeds its limit (MQTT 5.0,
    /// section 4.9).
    mutating func returnQuota() { quota = min(quota + 1, quotaLimit) }

    /// Records that PUBREC arrived for a message. The message uses the send quota (the limit for messages in flight)
    /// until PUBCOMP.
    mutating func received() { releasedCount += 1 }

    /// Records that the delivery of a message has ended after its PUBREC. The caller also calls ``returnQuota()``.
    mutating func completed() { releasedCount -= 1 }
}

extension Link {
    /// Writes `message` as a PUBLISH. The first PUBLISH of a message may use a topic alias, if the alias does not make
    /// the packet too large for the server. A repetition uses no alias.
    @inline(__always)
    mutating func write(
        _ message: MessageView, _ delivery: Delivery, isFirst: Bool, now: MonotonicInstant,
        into buffer: inout PacketBuffer
    ) throws(EncodeError) {
        guard version >= .v5 else {
            // Leave out the properties, because PUBLISH has no properties before MQTT 5.
            return try encoder.encodePublish(
                topic: message.topic.bytes, payload: message.payload.bytes, delivery: delivery,
                isRetained: message.header.isRetained, into: &buffer)
        }
        let end = message.header.expiresAt
        let expiry = end == .never ? nil : Self.wholeSeconds(from: now, to: end)
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

    /// Writes a PUBLISH without an alias, because the packet with the alias was larger than the server allows
    /// ([MQTT-3.2.2-15]). An alias is optional.
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

    /// Returns the seconds from `now` to `end` as a message expiry interval, rounded up. A message that is sent again
    /// may have expired. The result is then 1, because some servers treat 0 as "never expires".
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
