public import MQTTCodec

/// Opens and ends connections.
extension ClientEngine {
    /// Starts the handshake after the transport opened: writes CONNECT. Traps if the previous transport is not closed
    /// yet.
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

    /// Ends the connection, because the client or the server closed the transport. The session remains for the next
    /// connection.
    ///
    /// `wasSilent` is true if the peer closed the transport without an error. A server that does not support the
    /// version may close in this way. `wasSilent` is false after a TLS error or if the peer is unreachable, because
    /// these errors do not depend on the version.
    public mutating func transportClosed(now: Instant, wasSilent: Bool = true, _ actions: inout ActionList) {
        switch phase {
        case .idle: return
        case .connecting:
            // Some servers, such as RabbitMQ, close the transport without CONNACK if they do not support the version.
            close((wasSilent ? fallback() : nil) ?? .transportClosed, &actions)
        case .connected: close(.transportClosed, &actions)
        case .closing: break
        }
        phase = .idle
    }

    /// Ends the connection at the caller's request, and writes DISCONNECT. If the reason code is `success`, the server
    /// discards the will.
    ///
    /// Before CONNACK arrives, no DISCONNECT is written.
    ///
    /// Before MQTT 5, DISCONNECT has no reason code and always makes the server discard the will. So DISCONNECT is
    /// written only for `success`. For any other code, the server publishes the will.
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

    /// Ends the connection, because the server sends packets but does not read the client's answers. The waiting
    /// answers would fill the memory. Does nothing if there is no connection.
    ///
    /// - Parameters:
    ///   - waitingByteCount: The number of bytes that wait to be sent to the server, for the reported error.
    ///   - buffer: Receives DISCONNECT.
    ///   - actions: Receives ``EngineAction/close(_:)`` with ``ProtocolError/answersUnread(waitingByteCount:)``.
    public mutating func serverStoppedReading(
        waitingByteCount: Int, into buffer: inout PacketBuffer, _ actions: inout ActionList
    ) {
        guard isConnected else { return }
        let error = ProtocolError.answersUnread(waitingByteCount: waitingByteCount)
        fail(.protocolError(error), error.reasonCode, into: &buffer, &actions)
    }

    /// Ends the connection because of `reason`. On an MQTT 5 connection, first writes DISCONNECT with `code`.
    mutating func fail(
        _ reason: CloseReason, _ code: PacketReasonCode, into buffer: inout PacketBuffer,
        _ actions: inout ActionList
    ) {
        if isConnected, link.version >= .v5 { writeDisconnect(Disconnect(reasonCode: code), into: &buffer) }
        close(reason, &actions)
    }

    /// Writes DISCONNECT. Leaves out the parts of `disconnect` that the version, the server's maximum packet size or
    /// the rules for a client's reason codes do not allow.
    private mutating func writeDisconnect(_ disconnect: Disconnect, into buffer: inout PacketBuffer) {
        // Before MQTT 5, DISCONNECT always makes the server discard the will. So the engine writes DISCONNECT only for
        // `success`. Without DISCONNECT, the server publishes the will.
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

    /// Enters the phase `closing`. Ends the exchanges (messages and requests in flight) that must not continue on the
    /// next connection, and reports their failures.
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

    /// Returns the configured CONNECT. For MQTT 5, this CONNECT also contains the limits of the engine as properties.
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

    /// Selects the MQTT version for the next connection, after the server rejected the current version or closed the
    /// connection without CONNACK.
    ///
    /// MQTT 5 may fall back to 3.1.1. If 3.1.1 also fails, the version was not the cause, and the next connection uses
    /// MQTT 5 again. Returns the close reason if the version falls back; otherwise `nil`.
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
    /// A copy without the reason string and the user properties, because the packet with these texts may be too large
    /// for the server ([MQTT-3.14.2-3], [MQTT-3.14.2-4]).
    fileprivate var withoutTexts: Disconnect {
        var packet = self
        packet.properties.list.removeAll { $0.id == .reasonString || $0.id == .userProperty }
        return packet
    }
}

/// Processes CONNACK.
extension ClientEngine {
    /// Processes the CONNACK that answers CONNECT, and accepts or closes the connection.
    mutating func received(
        connAck: ConnAck, now: MonotonicInstant, into buffer: inout PacketBuffer, _ actions: inout ActionList
    ) throws(Fault) {
        guard connAck.reasonCode == .success else {
            if connAck.reasonCode == .unsupportedProtocolVersion {
                return close(fallback() ?? .refused(connAck), &actions)
            }
            hasConfirmedVersion = true  // The server refused for a reason other than the version.
            return close(.refused(connAck), &actions)
        }
        if connAck.isSessionPresent, configuration.connect.isCleanStart {
            throw .protocolError(.sessionAfterCleanStart)
        }
        // A server may assign a client id only if the client sent none (MQTT 5.0, 3.2.2.3.7; [MQTT-3.1.3-6]). If the
        // client sent an id, the session and its messages could belong to another client. In this case, libmosquitto
        // also closes the connection.
        if !configuration.connect.clientID.isEmpty, connAck.properties.assignedClientIdentifier != nil {
            throw .protocolError(.clientIDAssigned)
        }
        // With a smaller limit, the client could not send any acknowledgement ([MQTT-3.2.2-15]).
        if let size = connAck.properties.maximumPacketSize, size < Acknowledgement.smallestPacketSize {
            throw .protocolError(.maximumPacketSizeTooSmall(size))
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

    /// Processes the reply of an old server to an MQTT 5 CONNECT. The reply is a CONNACK in the format of MQTT 3, with
    /// a return code of MQTT 3.
    mutating func receivedOldConnAck(_ code: UInt8, _ error: DecodeError, _ actions: inout ActionList) {
        let isVersionRefused = code == 1
        close((isVersionRefused ? fallback() : nil) ?? .malformedPacket(error), &actions)
    }
}
