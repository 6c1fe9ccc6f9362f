import MQTTCodec

/// A message that the broker has accepted, as it was published.
struct BrokerMessage: Sendable {
    typealias Instant = ContinuousClock.Instant

    let topic: String
    let payload: [UInt8]
    let qos: PacketQoS
    let isRetained: Bool
    /// The properties that are forwarded, unchanged and in their original order ([MQTT-3.3.2-18]).
    let properties: PacketProperties
    /// The time at which the broker received the message. The expiry counts from this time.
    let receivedAt: Instant
    /// The identifier of the client that published the message; `nil` if the broker itself published it.
    let publisher: ExactText?
    /// The message expiry interval in seconds; `nil` for no expiry.
    private let expiry: UInt32?

    init(
        topic: String, payload: [UInt8], qos: PacketQoS, isRetained: Bool, properties: PacketProperties,
        publisher: ExactText?, receivedAt: Instant
    ) {
        self.topic = topic
        self.payload = payload
        self.qos = qos
        self.isRetained = isRetained
        self.properties = PacketProperties(properties.list.filter { Self.isForwarded($0.id) })
        self.publisher = publisher
        self.receivedAt = receivedAt
        expiry = properties.messageExpiryInterval
    }

    /// Whether a property of a PUBLISH or a will is forwarded with the message.
    private static func isForwarded(_ id: PropertyID) -> Bool {
        switch id {
        case .payloadFormatIndicator, .messageExpiryInterval, .contentType, .responseTopic, .correlationData,
            .userProperty:
            true
        default: false
        }
    }

    /// The approximate memory size of the message in bytes.
    var byteCount: Int {
        var count = topic.utf8.count + payload.count
        for property in properties.list {
            switch property {
            case .contentType(let text), .responseTopic(let text): count += text.utf8.count
            case .correlationData(let bytes): count += bytes.count
            case .userProperty(let name, let value): count += name.utf8.count + value.utf8.count
            default: count += 4
            }
        }
        return count
    }

    /// Whether the message has expired ([MQTT-3.3.2-5]). It is not expired at the moment of its arrival, even if its
    /// expiry interval is 0.
    func isExpired(at now: Instant) -> Bool {
        guard let expiry, now > receivedAt else { return false }
        return receivedAt.duration(to: now) >= .seconds(expiry)
    }

    /// Returns the properties to send now, with the remaining seconds ([MQTT-3.3.2-6]) and the identifiers of the
    /// matching subscriptions ([MQTT-3.3.4-3]).
    func properties(at now: Instant, identifiers: [UInt32]) -> PacketProperties {
        guard expiry != nil || !identifiers.isEmpty else { return properties }
        var properties = properties
        if let expiry, let index = properties.list.firstIndex(where: { $0.id == .messageExpiryInterval }) {
            let waited = UInt32(clamping: receivedAt.duration(to: now).components.seconds)
            properties.list[index] = .messageExpiryInterval(expiry > waited ? expiry - waited : 0)
        }
        for identifier in identifiers { properties.append(.subscriptionIdentifier(identifier)) }
        return properties
    }
}
