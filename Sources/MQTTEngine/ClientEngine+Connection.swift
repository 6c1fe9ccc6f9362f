public import MQTTCodec

/// The life of a connection: opening, the handshake, and every way to end it.
extension ClientEngine {
    /// The byte stream is open: writes CONNECT. A mistake and a trap unless the last one was closed.
    public mutating func transportOpened(
        now: Instant, into buffer: inout PacketBuffer, _ actions: inout ActionList
    ) {
        let now = MonotonicInstant(now)
        guard case .idle = phase else { preconditionFailure("opened twice") }
        link = Link(configuration, version)
        phase = .connecting(deadline: now.advanced(by: configuration.connectTimeout))
        do throws(EncodeError) {
            try link.encoder.encode(.connect(connectPacket()), into: &buffer)
            link.lastSent = now
        } catch {
            close(.malformedConnect(error), &actions)
        }
    }

    /// The byte stream has ended, whoever ended it. The session stays, for the next connection.
    ///
    /// `wasSilent` says that the peer ended it without giving a reason, as a server does that does not know the version;
    /// an error of TLS, or no way to the peer, has nothing to do with the version.
    public mutating func transportClosed(now: Instant, wasSilent: Bool = true, _ actions: inout ActionList) {
        switch phase {
        case .idle: return
        case .connecting:
            // Some servers, RabbitMQ among them, close without a word when they do not know the version.
            close((wasSilent ? fallback() : nil) ?? .transportClosed, &actions)
        case .connected: close(.transportClosed, &actions)
        case .closing: break
        }
        phase = .idle
    }

    /// Ends the connection in order: writes DISCONNECT, and the will is not published unless `disconnect` says so.
    ///
    /// Before CONNACK, the connection just ends.
    public mutating func disconnect(
        _ disconnect: Disconnect = Disconnect(), now: Instant, into buffer: inout PacketBuffer,
        _ actions: inout ActionList
    ) {
        switch phase {
        case .idle, .closing: return
        case .connecting: break
        case .connected: writeDisconnect(disconnect, into: &buffer)
        }
        close(.requested, &actions)
    }

    /// The server sends and reads none of the answers: ends the connection before they fill the memory. Ignored without one.
    ///
    /// - Parameters:
    ///   - waitingByteCount: How much waits for the server, for the report.
    ///   - buffer: Gets DISCONNECT.
    ///   - actions: Gets ``EngineAction/close(_:)`` with ``ProtocolError/answersUnread(waitingByteCount:)``.
    public mutating func serverStoppedReading(
        waitingByteCount: Int, into buffer: inout PacketBuffer, _ actions: inout ActionList
    ) {
        guard isConnected else { return }
        let error = ProtocolError.answersUnread(waitingByteCount: waitingByteCount)
        fail(.protocolError(error), error.reasonCode, into: &buffer, &actions)
    }

    /// Ends the connection because of `reason`, with the packet that tells the server where MQTT 5 has one.
    mutating func fail(
        _ reason: CloseReason, _ code: PacketReasonCode, into buffer: inout PacketBuffer,
        _ actions: inout ActionList
    ) {
        if isConnected, link.version >= .v5 { writeDisconnect(Disconnect(reasonCode: code), into: &buffer) }
        close(reason, &actions)
    }

    /// Writes `disconnect` as well as the version, and the codes that are a client's, can say it.
    private mutating func writeDisconnect(_ disconnect: Disconnect, into buffer: inout PacketBuffer) {
        // Before MQTT 5, DISCONNECT makes the server discard the will. Without the packet, the server publishes the will.
        if link.version < .v5, disconnect.reasonCode != .success { return }
        let candidates: [Disconnect] =
            link.version >= .v5
            ? [
                disconnect, disconnect.withoutTexts, Disconnect(reasonCode: disconnect.reasonCode),
                Disconnect(reasonCode: .unspecifiedError),
            ]
            : [Disconnect()]
        for candidate in candidates {
            if (try? link.encoder.encode(.disconnect(candidate), into: &buffer)) != nil { return }
        }
    }

    /// Enters `closing`, and ends what does not outlive a connection.
    mutating func close(_ reason: CloseReason, _ actions: inout ActionList) {
        link.unacknowledgedAtEnd = unacknowledgedNow
        phase = .closing
        outgoing.connectionLost()
        for id in outgoing.idsInOrder() {
            guard let exchange = outgoing.exchange(of: id) else { continue }
            if exchange.kind.isPublish, exchange.message.map({ memory.header(of: $0).isRetried }) ?? true { continue }
            endExchange(id)
            actions.append(.failed(exchange.token, .connectionLost))
        }
        unknownSessionLostConnection()
        incoming.connectionLost()
        link.resendStack = []
        link.pingSentAt = nil
        link.acknowledgementCheck = nil
        actions.append(.close(reason))
    }

    /// The CONNECT of this connection: the configured one, with what the engine's own limits add.
    private func connectPacket() -> Connect {
        var connect = configuration.connect
        connect.version = version
        guard version >= .v5 else {
            connect.properties = []
            connect.will?.properties = []
            return connect
        }
        func add(_ property: Property, unless isDefault: Bool) {
            if !isDefault, connect.properties[property.id] == nil { connect.properties.append(property) }
        }
        add(.receiveMaximum(max(configuration.receiveMaximum, 1)), unless: configuration.receiveMaximum == .max)
        if let size = UInt32(exactly: configuration.maximumPacketSize), size > 0 {
            add(.maximumPacketSize(size), unless: configuration.maximumPacketSize >= PacketEncoder.largestPacketSize)
        }
        add(.topicAliasMaximum(configuration.incomingTopicAliases), unless: configuration.incomingTopicAliases == 0)
        return connect
    }

    /// Chooses the version for the next connection after this one was refused because of it, or closed without a word.
    ///
    /// MQTT 5 may fall back to 3.1.1; a fallback that did not help is taken back, because the silence had another cause.
    private mutating func fallback() -> CloseReason? {
        guard !hasConfirmedVersion else { return nil }
        if version == configuration.connect.version {
            guard version >= .v5, configuration.fallsBackToVersion311 else { return nil }
            version = .v311
            return .versionNotSupported(next: .v311)
        }
        version = configuration.connect.version
        return nil
    }
}

extension Disconnect {
    /// The packet without its reason string and user properties, which may be too large for the server ([MQTT-3.14.2-3],
    /// [MQTT-3.14.2-4]).
    fileprivate var withoutTexts: Disconnect {
        var packet = self
        packet.properties.list.removeAll { $0.id == .reasonString || $0.id == .userProperty }
        return packet
    }
}

/// The handshake.
extension ClientEngine {
    /// CONNACK came while it was due.
    mutating func received(
        connAck: ConnAck, now: MonotonicInstant, into buffer: inout PacketBuffer, _ actions: inout ActionList
    ) throws(Fault) {
        guard connAck.reasonCode == .success else {
            if connAck.reasonCode == .unsupportedProtocolVersion {
                return close(fallback() ?? .refused(connAck), &actions)
            }
            hasConfirmedVersion = true  // Whatever it minds, it is not the version.
            return close(.refused(connAck), &actions)
        }
        if connAck.isSessionPresent, configuration.connect.isCleanStart {
            throw .protocolError(.sessionAfterCleanStart)
        }
        // Only a client that sent no id is assigned one (MQTT 5.0, 3.2.2.3.7; [MQTT-3.1.3-6]). With another id, the session
        // and its messages would be those of another client. libmosquitto ends the connection, too.
        if !configuration.connect.clientID.isEmpty, connAck.properties.assignedClientIdentifier != nil {
            throw .protocolError(.clientIDAssigned)
        }
        hasConfirmedVersion = true
        phase = .connected
        link.accepted(connAck, configuration)
        actions.append(.connected(connAck))
        if connAck.isSessionPresent {
            sessionKept()
            resumeExchanges(now: now, into: &buffer)
        } else {
            sessionLost(&actions)
            sessionBecameKnown()
        }
        pump(now: now, into: &buffer, &actions)
    }

    /// A CONNACK of MQTT 3 came where one of MQTT 5 was due, with one of the old return codes.
    mutating func receivedOldConnAck(_ code: UInt8, _ error: DecodeError, _ actions: inout ActionList) {
        let isVersionRefused = code == 1
        close((isVersionRefused ? fallback() : nil) ?? .malformedPacket(error), &actions)
    }

    /// The server has no session, or another one: the exchanges of the last one are dealt with as the policy says.
    mutating func sessionLost(_ actions: inout ActionList) {
        incoming.sessionLost()
        for id in outgoing.idsInOrder() {
            guard let exchange = endExchange(id), !exchange.kind.isGivenUp else { continue }
            switch configuration.sessionLossPolicy {
            case .resend where exchange.message != nil: actions.append(.returned(exchange.token))
            // Once PUBREL may have been sent, the PUBLISH must not be sent again ([MQTT-4.3.3-6]), and the client cannot
            // know whether the server delivered the message.
            case .resend, .fail: actions.append(.failed(exchange.token, .sessionLost))
            case .drop: actions.append(.failed(exchange.token, .dropped))
            }
        }
    }
}
