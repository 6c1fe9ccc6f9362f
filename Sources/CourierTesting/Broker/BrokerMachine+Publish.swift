import MQTTCodec

extension BrokerMachine {
    /// The maximum number of QoS 2 messages of one connection that wait for PUBREL.
    var incomingLimit: Int { max(Int(configuration.receiveMaximum), 1) }

    /// Accepts a message from a client, acknowledges it and forwards it.
    mutating func receivedPublish(
        _ publish: Publish, from id: ConnectionID, now: Instant, _ actions: inout [Action]
    ) {
        guard let link = links[id] else { return }
        if let code = violation(of: publish, on: link) {
            return fail(id, .protocolViolation(code), now: now, &actions)
        }
        let topic = resolveTopic(of: publish, on: id)
        switch publish.delivery {
        case .atMostOnce: _ = accept(publish, topic, link, now: now, &actions)
        case .atLeastOnce(let packetID, _):
            let code = accept(publish, topic, link, now: now, &actions)
            send(.pubAck(acknowledgement(packetID, code, link.version)), to: id, now: now, &actions)
        case .exactlyOnce(let packetID, _):
            receivedExactlyOnce(publish, packetID, topic, from: id, link, now: now, &actions)
        }
    }

    /// Handles PUBREL: frees the client's packet id and answers PUBCOMP ([MQTT-4.3.3-11]).
    mutating func receivedPubRel(
        _ acknowledgement: Acknowledgement, from id: ConnectionID, now: Instant, _ actions: inout [Action]
    ) {
        guard let version = links[id]?.version, let session = links[id]?.session else { return }
        let packetID = acknowledgement.packetID
        links[id]?.unreleased.remove(packetID)
        let isKnown = sessions[session]?.incoming.remove(packetID) != nil
        let answer = self.acknowledgement(packetID, isKnown ? .success : .packetIdentifierNotFound, version)
        send(.pubComp(answer), to: id, now: now, &actions)
    }

    /// Makes an acknowledgement. In a version before MQTT 5, the acknowledgement always means success.
    func acknowledgement(_ id: PacketID, _ code: PacketReasonCode, _ version: ProtocolVersion) -> Acknowledgement {
        Acknowledgement(packetID: id, reasonCode: version >= .v5 ? code : .success)
    }
}

extension BrokerMachine {
    /// Returns the reason code if the PUBLISH violates the protocol, so that the connection must end; otherwise `nil`.
    private func violation(of publish: Publish, on link: BrokerLink) -> PacketReasonCode? {
        if publish.delivery.qos > configuration.maximumQoS { return .qosNotSupported }  // [MQTT-3.2.2-12]
        if publish.isRetained, !configuration.isRetainAvailable { return .retainNotSupported }  // [MQTT-3.2.2-13]
        if let alias = publish.properties.topicAlias {
            if alias > configuration.topicAliasMaximum { return .topicAliasInvalid }  // [MQTT-3.3.2-9]
            // A PUBLISH with an empty topic must use a topic alias that is already defined (MQTT 5.0, section
            // 3.3.2.3.4).
            if publish.topic.isEmpty, link.incomingAliases[alias] == nil { return .protocolError }
        }
        if case .exactlyOnce(let id, _) = publish.delivery, link.version >= .v5 {
            // If a message is sent again on this connection, it counts only once against the receive maximum
            // ([MQTT-3.3.4-7]).
            let isOneMore = !link.unreleased.contains(id)
            if isOneMore, link.unreleased.count >= incomingLimit { return .receiveMaximumExceeded }
        }
        return nil
    }

    /// Returns the topic of `publish`. If `publish` defines a topic alias, stores the alias.
    private mutating func resolveTopic(of publish: Publish, on id: ConnectionID) -> String {
        guard let alias = publish.properties.topicAlias else { return publish.topic }
        if publish.topic.isEmpty { return links[id]?.incomingAliases[alias] ?? "" }
        links[id]?.incomingAliases[alias] = publish.topic
        return publish.topic
    }

    private mutating func receivedExactlyOnce(
        _ publish: Publish, _ packetID: PacketID, _ topic: String, from id: ConnectionID, _ link: BrokerLink,
        now: Instant, _ actions: inout [Action]
    ) {
        let isKnown = sessions[link.session]?.incoming.contains(packetID) ?? false
        // Until PUBREL, a PUBLISH with the same id is the same message, whatever its DUP flag ([MQTT-4.3.3-10]). So it
        // is acknowledged again, but not forwarded again.
        let code = isKnown ? .success : accept(publish, topic, link, now: now, &actions)
        if !code.isFailure {  // After a refusal the id is free at once ([MQTT-4.3.3-9]).
            sessions[link.session]?.incoming.insert(packetID)
            links[id]?.unreleased.insert(packetID)
        }
        send(.pubRec(acknowledgement(packetID, code, link.version)), to: id, now: now, &actions)
    }

    /// Stores the message if it is retained, and forwards it. Returns the reason code of the acknowledgement.
    private mutating func accept(
        _ publish: Publish, _ topic: String, _ link: BrokerLink, now: Instant, _ actions: inout [Action]
    ) -> PacketReasonCode {
        let levels = ExactText.levels(of: topic.utf8)
        guard levels.count <= configuration.maximumTopicLevels else { return .topicNameInvalid }
        guard configuration.access.allowsPublishing(to: levels, by: link.username) else { return .notAuthorized }
        if configuration.validatesPayloadFormat, publish.properties.payloadIsText == true,
            String(validating: publish.payload, as: UTF8.self) == nil
        {
            return .payloadFormatInvalid
        }
        let message = BrokerMessage(
            topic: topic, payload: publish.payload, qos: publish.delivery.qos, isRetained: publish.isRetained,
            properties: publish.properties, publisher: sessions[link.session]?.clientID, receivedAt: now)
        if message.isRetained, !retained.store(message, now: now) { return .quotaExceeded }
        return route(message, levels, now: now, &actions) > 0 ? .success : .noMatchingSubscribers
    }
}
