import MQTTCodec

extension BrokerMachine {
    /// Sends `packet`. If the packet exceeds the client's maximum packet size, closes the connection ([MQTT-3.1.2-24]).
    mutating func send(_ packet: Packet, to id: ConnectionID, now: Instant, _ actions: inout [Action]) {
        guard let link = links[id] else { return }
        if let limit = link.maximumPacketSize, !packet.isEncodable(in: link.version, maximumSize: limit) {
            return end(id, .answerTooLarge, publishesWill: true, now: now, &actions)
        }
        actions.append(.send(packet, to: id))
    }

    /// Ends a connection for a reason other than the client's DISCONNECT. After an accepting CONNACK in MQTT 5, a
    /// DISCONNECT with the reason is sent first ([MQTT-3.14.0-1]).
    mutating func fail(_ id: ConnectionID, _ reason: BrokerCloseReason, now: Instant, _ actions: inout [Action]) {
        if awaitingConnect.removeValue(forKey: id) != nil { return actions.append(.close(id, reason)) }
        guard let link = links[id] else { return }
        if link.version >= .v5, let code = reason.disconnectCode {
            let packet = Self.disconnect(code, reason, maximumSize: link.maximumPacketSize)
            if let packet { actions.append(.send(packet, to: id)) }
        }
        end(id, reason, publishesWill: true, now: now, &actions)
    }

    /// Handles DISCONNECT.
    mutating func receivedDisconnect(
        _ disconnect: Disconnect, from id: ConnectionID, now: Instant, _ actions: inout [Action]
    ) {
        guard let link = links[id] else { return }
        if let interval = disconnect.properties.sessionExpiryInterval {
            if link.endsSession, interval > 0 {  // MQTT 5.0, section 3.14.2.2.2.
                return fail(id, .protocolViolation(.protocolError), now: now, &actions)
            }
            let expiry = grantedExpiry(interval)
            sessions[link.session]?.expiry = expiry
        }
        let code = disconnect.reasonCode
        end(id, .disconnected(code), publishesWill: code != .success, now: now, &actions)  // [MQTT-3.14.4-3]
    }

    private mutating func end(
        _ id: ConnectionID, _ reason: BrokerCloseReason, publishesWill: Bool, now: Instant, _ actions: inout [Action]
    ) {
        guard let link = links.removeValue(forKey: id) else { return }
        actions.append(.close(id, reason))
        detach(link, publishesWill: publishesWill, now: now, &actions)
    }

    /// Returns the DISCONNECT to send. If it is too large, the reason string is left out. A code that DISCONNECT cannot
    /// carry is replaced by 0x82, or by 0x80 if the operator ends the connection. Returns `nil` if no DISCONNECT fits.
    private static func disconnect(
        _ code: PacketReasonCode, _ reason: BrokerCloseReason, maximumSize: Int?
    ) -> Packet? {
        var candidates = [Disconnect(reasonCode: code), Disconnect(reasonCode: .protocolError)]
        if case .administrative = reason { candidates[1].reasonCode = .unspecifiedError }
        if case .malformed(let error) = reason {
            let sentence = PacketProperties([.reasonString(error.description)])
            candidates.insert(Disconnect(reasonCode: code, properties: sentence), at: 0)
        }
        return candidates.lazy.map { Packet.disconnect($0) }.first {
            $0.isEncodable(in: .v5, maximumSize: maximumSize ?? PacketEncoder.largestPacketSize)
        }
    }
}

extension BrokerMachine {
    /// Detaches a session from its ended connection, and schedules its will and its expiry.
    mutating func detach(_ link: BrokerLink, publishesWill: Bool, now: Instant, _ actions: inout [Action]) {
        let id = link.session
        guard let expiry = sessions[id].map(\.expiry) else { return }
        let expiresAt = expiry.map { now.advanced(by: $0) }
        sessions[id]?.presence = .away(expiresAt: expiresAt)
        sessions[id]?.outgoing.connectionLost()
        if publishesWill, let will = link.will {
            let delay = min(will.delay, expiry ?? will.delay)
            let dueAt = now.advanced(by: delay)
            sessions[id]?.pendingWill = BrokerSession.PendingWill(will: will, dueAt: dueAt)
            note(deadline: dueAt)
        }
        publishPendingWill(of: id, ifDueAt: now, now: now, &actions)
        if expiry == .zero { endSession(id, now: now, &actions) } else { note(deadline: expiresAt) }
    }

    /// If the delay of a session's will is over at `instant`, publishes the will and removes it from the session
    /// ([MQTT-3.1.2-8], [MQTT-3.1.2-10]).
    mutating func publishPendingWill(
        of id: SessionID, ifDueAt instant: Instant, now: Instant, _ actions: inout [Action]
    ) {
        guard let client = sessions[id]?.clientID, let pending = sessions[id]?.pendingWill, instant >= pending.dueAt
        else { return }
        sessions[id]?.pendingWill = nil
        publish(pending.will, of: client, now: now, &actions)
    }

    /// Removes a session whose client is not connected ([MQTT-4.1.0-2]). Its will is published now, and its
    /// shared-subscription messages are sent to other members.
    mutating func endSession(_ id: SessionID, now: Instant, _ actions: inout [Action]) {
        guard let session = sessions.removeValue(forKey: id) else { return }
        sessionIDs[session.clientID] = nil
        for filter in session.subscriptions { subscriptions.remove(filter, of: id) }
        redistribute(from: session, now: now, &actions)
        if let pending = session.pendingWill { publish(pending.will, of: session.clientID, now: now, &actions) }
    }

    private mutating func publish(
        _ will: BrokerWill, of client: ExactText, now: Instant, _ actions: inout [Action]
    ) {
        let levels = ExactText.levels(of: will.will.topic.utf8)
        guard configuration.access.allowsPublishing(to: levels, by: will.username) else { return }
        let message = will.message(from: client, at: now)
        if message.isRetained, !retained.store(message, now: now) { dropped += 1 }
        route(message, levels, now: now, &actions)
    }
}
