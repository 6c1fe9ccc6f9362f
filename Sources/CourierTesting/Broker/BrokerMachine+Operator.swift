public import MQTTCodec

extension BrokerMachine {
    /// Publishes a message from the broker itself. No access rule applies to it.
    ///
    /// Only the properties that belong to a message are forwarded, so a topic alias is ignored. The call has no effect
    /// if PUBLISH cannot carry the message, for example because of a wildcard in the topic. It also has no effect if
    /// the topic has too many levels.
    ///
    /// - Returns: The number of copies: one for each matching session and one for each matching shared subscription.
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

    /// Disconnects a client on the operator's behalf. The client's will is published, and its session remains.
    ///
    /// - Parameters:
    ///   - clientID: The client. If it is not connected, the call has no effect.
    ///   - reasonCode: The code that an MQTT 5 client receives, 0x98 by default. A code that DISCONNECT cannot carry
    ///     becomes 0x80.
    ///   - now: The current time.
    ///   - actions: The array that the actions are appended to.
    public mutating func disconnect(
        _ clientID: String, reasonCode: PacketReasonCode = .administrativeAction, now: Instant,
        into actions: inout [Action]
    ) {
        guard let session = sessionIDs[ExactText(clientID)], let id = sessions[session]?.connection else { return }
        fail(id, .administrative(reasonCode), now: now, &actions)
    }

    /// Closes all connections. MQTT 5 clients receive a DISCONNECT with 0x8B. The sessions remain.
    public mutating func shutDown(now: Instant, into actions: inout [Action]) {
        for id in (Array(awaitingConnect.keys) + Array(links.keys)).sorted() {
            fail(id, .administrative(.serverShuttingDown), now: now, &actions)
        }
    }
}
