import MQTTCodec

/// A message that the broker delivers to one session.
struct BrokerDelivery: Sendable {
    let message: BrokerMessage
    /// The lower of the message's QoS and the granted QoS ([MQTT-3.8.4-8]).
    var qos: PacketQoS
    /// The retain flag of the PUBLISH to the client.
    var isRetained: Bool
    /// The identifiers of the subscriptions that matched, lowest first.
    var identifiers: [UInt32] = []
    /// The shared subscription for which this session gets the message; `nil` if no shared subscription selected the
    /// session.
    var share: BrokerFilter?

    /// Makes the delivery of a message for one matching subscription.
    init(_ message: BrokerMessage, by options: SubscriptionTree.Options, share: BrokerFilter? = nil) {
        self.message = message
        qos = min(message.qos, options.qos)
        isRetained = message.isRetained && options.isRetainAsPublished
        identifiers = options.identifier.map { [$0] } ?? []
        self.share = share
    }

    /// Makes the delivery of a retained message to a new subscription. The retain flag is set.
    init(retained message: BrokerMessage, by options: SubscriptionTree.Options) {
        self.init(message, by: options)
        isRetained = true
    }

    /// Adds another matching subscription of the same session. The session gets one copy, with the highest QoS
    /// ([MQTT-3.3.4-2]) and all identifiers ([MQTT-3.3.4-4]).
    mutating func merge(_ options: SubscriptionTree.Options) {
        qos = max(qos, min(message.qos, options.qos))
        if message.isRetained, options.isRetainAsPublished { isRetained = true }
        guard let identifier = options.identifier, !identifiers.contains(identifier) else { return }
        let index = identifiers.firstIndex { $0 > identifier } ?? identifiers.endIndex
        identifiers.insert(identifier, at: index)
    }

    /// Returns the PUBLISH for a client that uses `version`; `nil` if the QoS needs a packet id and `id` is `nil`.
    func packet(
        _ id: PacketID?, isDuplicate: Bool, version: ProtocolVersion, at now: ContinuousClock.Instant
    ) -> Publish? {
        guard let delivery = Delivery(qos: qos, packetID: id, isDuplicate: isDuplicate) else { return nil }
        return Publish(
            topic: message.topic, payload: message.payload, delivery: delivery, isRetained: isRetained,
            properties: version >= .v5 ? message.properties(at: now, identifiers: identifiers) : [])
    }
}
