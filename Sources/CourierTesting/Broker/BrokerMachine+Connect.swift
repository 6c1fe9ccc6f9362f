import MQTTCodec

extension BrokerMachine {
    /// Answers CONNECT: refuses it, or begins or resumes a session ([MQTT-3.1.4-5]).
    mutating func receivedConnect(
        _ connect: Connect, from id: ConnectionID, now: Instant, _ actions: inout [Action]
    ) {
        actions.append(.setVersion(connect.version, of: id))
        if let code = refusal(of: connect) { return refuse(id, code, connect.version, &actions) }
        awaitingConnect[id] = nil

        let assignedID = connect.clientID.isEmpty ? nextAssignedID() : nil
        let key = ExactText(assignedID ?? connect.clientID)
        let expiry = SessionExpiry(of: connect, maximum: configuration.maximumSessionExpiry)
        let (session, isPresent) = claimSession(of: key, connect, id, expiry, now: now, &actions)
        let link = makeLink(connect, session, now: now)
        links[id] = link
        note(deadline: link.deadline)

        let connAck = ConnAck(
            isSessionPresent: isPresent && connect.version > .v31,
            properties: connect.version >= .v5 ? properties(assignedID: assignedID, expiry) : [])
        send(.connAck(connAck), to: id, now: now, &actions)
        // If the CONNACK was too large for the client, `send` has ended the connection, so the session is not resumed.
        guard links[id] != nil else { return }
        resume(session, over: id, now: now, &actions)
    }

    /// Answers a CONNECT that could not be decoded, if the error reveals the client's version. The caller closes the
    /// connection.
    mutating func refuseMalformedConnect(_ error: DecodeError, from id: ConnectionID, _ actions: inout [Action]) {
        let version: ProtocolVersion
        switch error.violation {
        case .unsupportedProtocolVersion(let level): version = level & 0x7F > 4 ? .v5 : .v311  // [MQTT-3.1.2-2]
        // The decoder reports this violation only for MQTT 3.1.1 and 3.1. The CONNACK packets of both versions have the
        // same format, so 3.1.1 is used for both.
        case .emptyClientID: version = .v311
        default: return
        }
        actions.append(.setVersion(version, of: id))
        actions.append(.send(.connAck(ConnAck(reasonCode: error.reasonCode)), to: id))
    }
}

/// How long a session outlives its connection: the time that the client requests, and the time that the broker grants.
/// `nil` means no limit.
private struct SessionExpiry {
    let asked: Duration?
    let granted: Duration?

    init(of connect: Connect, maximum: Duration?) {
        if connect.version >= .v5 {
            asked = Self.duration(connect.properties.sessionExpiryInterval ?? 0)
        } else {
            asked = connect.isCleanStart ? .zero : nil
        }
        granted = Self.capped(asked, maximum)
    }

    /// Converts seconds to a duration. 0xFFFFFFFF means no limit (3.1.2.11.2), so it becomes `nil`.
    static func duration(_ interval: UInt32) -> Duration? { interval == .max ? nil : .seconds(interval) }

    static func capped(_ expiry: Duration?, _ maximum: Duration?) -> Duration? {
        guard let maximum else { return expiry }
        return min(expiry ?? maximum, maximum)
    }
}

extension BrokerMachine {
    /// Returns the granted expiry if the client requests `interval` seconds.
    func grantedExpiry(_ interval: UInt32) -> Duration? {
        SessionExpiry.capped(SessionExpiry.duration(interval), configuration.maximumSessionExpiry)
    }

    private func refusal(of connect: Connect) -> PacketReasonCode? {
        guard configuration.versions.contains(connect.version) else { return .unsupportedProtocolVersion }
        if connect.properties.authenticationMethod != nil { return .badAuthenticationMethod }  // [MQTT-4.12.0-1]
        if connect.clientID.utf8.count > configuration.maximumClientIDLength { return .clientIdentifierNotValid }
        let refusal = configuration.authentication.refusal(connect)
        if let refusal { return refusal }
        if let will = connect.will {
            if will.qos > configuration.maximumQoS { return .qosNotSupported }
            if will.isRetained, !configuration.isRetainAvailable { return .retainNotSupported }
            let levels = ExactText.levels(of: will.topic.utf8)
            if levels.count > configuration.maximumTopicLevels { return .topicNameInvalid }
        }
        let isNew = sessionIDs[ExactText(connect.clientID)] == nil
        return isNew && sessions.count >= configuration.maximumSessions ? .quotaExceeded : nil
    }

    private mutating func refuse(
        _ id: ConnectionID, _ code: PacketReasonCode, _ version: ProtocolVersion, _ actions: inout [Action]
    ) {
        awaitingConnect[id] = nil
        var packet = Packet.connAck(ConnAck(reasonCode: code))
        if !packet.isEncodable(in: version) {
            packet = .connAck(ConnAck(reasonCode: Self.olderCode(for: code, version)))
        }
        actions.append(.send(packet, to: id))
        actions.append(.close(id, .refused(code)))
    }

    /// Returns the most similar code that a CONNACK of `version` can contain.
    private static func olderCode(for code: PacketReasonCode, _ version: ProtocolVersion) -> PacketReasonCode {
        switch code {
        case .quotaExceeded, .serverBusy, .connectionRateExceeded, .useAnotherServer, .serverMoved:
            version >= .v5 ? .serverBusy : .serverUnavailable
        default: .notAuthorized
        }
    }

    /// Returns an identifier that no session uses ([MQTT-3.2.2-16]).
    private mutating func nextAssignedID() -> String {
        while true {
            lastAssignedNumber += 1
            let clientID = configuration.assignedClientIDPrefix + String(lastAssignedNumber)
            if sessionIDs[ExactText(clientID)] == nil { return clientID }
        }
    }

    /// Ends the current connection of the client `key` ([MQTT-3.1.4-3]), and resumes or replaces the client's session
    /// ([MQTT-3.1.2-4] to [MQTT-3.1.2-6]).
    private mutating func claimSession(
        of key: ExactText, _ connect: Connect, _ id: ConnectionID, _ expiry: SessionExpiry, now: Instant,
        _ actions: inout [Action]
    ) -> (SessionID, isPresent: Bool) {
        if let known = sessionIDs[key], let holder = sessions[known]?.connection {
            fail(holder, .takenOver, now: now, &actions)
        }
        if let known = sessionIDs[key] {
            if !connect.isCleanStart {
                sessions[known]?.presence = .connected(id)
                sessions[known]?.expiry = expiry.granted
                sessions[known]?.pendingWill = nil  // [MQTT-3.1.3-9]
                return (known, true)
            }
            endSession(known, now: now, &actions)
        }
        lastSessionNumber += 1
        let session = SessionID(number: lastSessionNumber)
        sessionIDs[key] = session
        sessions[session] = BrokerSession(
            id: session, clientID: key, presence: .connected(id), expiry: expiry.granted)
        return (session, false)
    }

    private func makeLink(_ connect: Connect, _ session: SessionID, now: Instant) -> BrokerLink {
        let isV5 = connect.version >= .v5
        let keepAlive = (isV5 ? configuration.serverKeepAlive : nil) ?? connect.keepAlive
        let aliases = min(connect.properties.topicAliasMaximum ?? 0, configuration.maximumOutgoingTopicAliases)
        return BrokerLink(
            version: connect.version, session: session, username: connect.username,
            will: connect.will.map { BrokerWill(will: $0, username: connect.username) },
            silenceLimit: keepAlive == 0 ? nil : .milliseconds(Int(keepAlive) * 1_500), lastHeard: now,
            receiveMaximum: Int(connect.properties.receiveMaximum ?? .max),
            maximumPacketSize: connect.properties.maximumPacketSize.map { Int($0) },
            endsSession: isV5 && (connect.properties.sessionExpiryInterval ?? 0) == 0,
            outgoingAliases: OutgoingAliases(limit: aliases))
    }

    /// Returns the CONNACK properties for an MQTT 5 client, in the order of their identifiers. Properties with default
    /// values are left out.
    private func properties(assignedID: String?, _ expiry: SessionExpiry) -> PacketProperties {
        var properties = PacketProperties()
        if expiry.granted != expiry.asked, let granted = expiry.granted {
            properties.append(.sessionExpiryInterval(UInt32(clamping: granted.components.seconds)))
        }
        if let assignedID { properties.append(.assignedClientIdentifier(assignedID)) }  // [MQTT-3.1.3-7]
        if let keepAlive = configuration.serverKeepAlive { properties.append(.serverKeepAlive(keepAlive)) }
        if incomingLimit < Int(UInt16.max) { properties.append(.receiveMaximum(UInt16(incomingLimit))) }
        if configuration.topicAliasMaximum > 0 {
            properties.append(.topicAliasMaximum(configuration.topicAliasMaximum))
        }
        if configuration.maximumQoS < .exactlyOnce { properties.append(.maximumQoS(configuration.maximumQoS)) }
        if !configuration.isRetainAvailable { properties.append(.retainAvailable(false)) }
        if configuration.maximumPacketSize < PacketEncoder.largestPacketSize {
            properties.append(.maximumPacketSize(UInt32(max(configuration.maximumPacketSize, 1))))
        }
        if !configuration.isWildcardSubscriptionAvailable { properties.append(.wildcardSubscriptionAvailable(false)) }
        if !configuration.isSubscriptionIdentifierAvailable {
            properties.append(.subscriptionIdentifiersAvailable(false))
        }
        if !configuration.isSharedSubscriptionAvailable { properties.append(.sharedSubscriptionAvailable(false)) }
        return properties
    }
}
