public import MQTTCodec

extension BrokerMachine {
    /// Publishes a message of the broker's own; no access rule applies to it.
    ///
    /// Only the properties that belong to a message are forwarded, so no topic alias is. What PUBLISH cannot carry, such as
    /// a topic with a wildcard, and a topic with too many levels are ignored.
    ///
    /// - Returns: How many sessions it was sent to or queued for.
    @discardableResult
    public mutating func publish(
        topic: String, payload: [UInt8], qos: PacketQoS = .atMostOnce, isRetained: Bool = false,
        properties: PacketProperties = [], now: Instant, into actions: inout [Action]
    ) -> Int {
        let message = BrokerMessage(
            topic: topic, payload: payload, qos: qos, isRetained: isRetained, properties: properties, publisher: nil,
            receivedAt: now)
        let packet = Publish(topic: topic, payload: payload, properties: message.properties)
        let levels = ExactText.levels(of: topic.utf8)
        guard levels.count <= configuration.maximumTopicLevels, Packet.publish(packet).isEncodable(in: .v5) else {
            return 0
        }
        if isRetained, !retained.store(message, now: now) { dropped += 1 }
        return route(message, levels, now: now, &actions)
    }

    /// Disconnects a client on the operator's behalf; its will is published and its session stays.
    ///
    /// - Parameters:
    ///   - clientID: The client; one that is not connected is ignored.
    ///   - reasonCode: What an MQTT 5 client is told, 0x98 by default; one that DISCONNECT cannot carry becomes 0x80.
    ///   - now: The instant.
    ///   - actions: Where the actions go.
    public mutating func disconnect(
        _ clientID: String, reasonCode: PacketReasonCode = .administrativeAction, now: Instant,
        into actions: inout [Action]
    ) {
        guard let session = sessionIDs[ExactText(clientID)], let id = sessions[session]?.connection else { return }
        fail(id, .administrative(reasonCode), now: now, &actions)
    }

    /// Closes all connections, in MQTT 5 with 0x8B; sessions stay.
    public mutating func shutDown(now: Instant, into actions: inout [Action]) {
        for id in (Array(awaitingConnect.keys) + Array(links.keys)).sorted() {
            fail(id, .administrative(.serverShuttingDown), now: now, &actions)
        }
    }
}
