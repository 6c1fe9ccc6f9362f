public import MQTTCodec

/// Sends SUBSCRIBE, UNSUBSCRIBE and AUTH, and processes the answers.
extension ClientEngine {
    /// Sends SUBSCRIBE for `subscriptions`. ``EngineAction/subscribed(_:_:)`` contains one result for each
    /// subscription.
    ///
    /// The request fails if there is no connection, or if the connection ends before the answer arrives. The engine
    /// does not remember subscriptions, so the caller must remember them.
    public mutating func subscribe(
        _ subscriptions: [Subscription], properties: PacketProperties = [], token: Token, now: Instant,
        into buffer: inout PacketBuffer, _ actions: inout ActionList
    ) {
        let now = MonotonicInstant(now)
        request(
            .untilSubAck(filterCount: UInt32(clamping: subscriptions.count)), token, now: now, into: &buffer, &actions
        ) {
            .subscribe(Subscribe(packetID: $0, subscriptions: subscriptions, properties: properties))
        }
    }

    /// Sends UNSUBSCRIBE for `filters`. ``EngineAction/unsubscribed(_:_:)`` contains the results.
    ///
    /// The request fails if there is no connection, or if the connection ends before the answer arrives.
    public mutating func unsubscribe(
        _ filters: [String], properties: PacketProperties = [], token: Token, now: Instant,
        into buffer: inout PacketBuffer, _ actions: inout ActionList
    ) {
        let now = MonotonicInstant(now)
        request(.untilUnsubAck(filterCount: UInt32(clamping: filters.count)), token, now: now, into: &buffer, &actions)
        {
            .unsubscribe(Unsubscribe(packetID: $0, filters: filters, properties: properties))
        }
    }

    private mutating func request(
        _ kind: OutgoingExchanges.Kind, _ token: Token, now: MonotonicInstant, into buffer: inout PacketBuffer,
        _ actions: inout ActionList, _ packet: (PacketID) -> Packet
    ) {
        guard isConnected else { return actions.append(.failed(token, .notConnected)) }
        guard let id = outgoing.begin(kind, token, nil, at: now) else {
            return actions.append(.failed(token, .quotaExceeded))
        }
        do throws(EncodeError) {
            try link.encoder.encode(packet(id), into: &buffer)
            written(now: now)
            awaitAcknowledgement(now: now)
        } catch {
            outgoing.end(id)
            actions.append(.failed(token, .notEncodable(error)))
        }
    }

    mutating func received(_ subAck: SubAck, _ actions: inout ActionList) throws(Fault) {
        let id = subAck.packetID
        switch outgoing.kind(of: id) {
        case .untilSubAck(let filterCount):
            guard subAck.reasonCodes.count == Int(filterCount) else {
                throw .protocolError(
                    .wrongResultCount(.subAck, expected: Int(filterCount), actual: subAck.reasonCodes.count))
            }
            if let exchange = outgoing.end(id) { actions.append(.subscribed(exchange.token, subAck)) }
        case .untilPubAck, .untilCleared, .untilPubRec, .untilPubComp, .untilFreed, .untilSessionEnds, .untilUnsubAck:
            throw .protocolError(.wrongAcknowledgement(.subAck, id))
        case nil: break
        }
    }

    mutating func received(_ unsubAck: UnsubAck, _ actions: inout ActionList) throws(Fault) {
        let id = unsubAck.packetID
        switch outgoing.kind(of: id) {
        case .untilUnsubAck(let filterCount):
            guard link.version < .v5 || unsubAck.reasonCodes.count == Int(filterCount) else {
                throw .protocolError(
                    .wrongResultCount(.unsubAck, expected: Int(filterCount), actual: unsubAck.reasonCodes.count))
            }
            if let exchange = outgoing.end(id) { actions.append(.unsubscribed(exchange.token, unsubAck)) }
        case .untilPubAck, .untilCleared, .untilPubRec, .untilPubComp, .untilFreed, .untilSessionEnds, .untilSubAck:
            throw .protocolError(.wrongAcknowledgement(.unsubAck, id))
        case nil: break
        }
    }

    /// Sends AUTH, which is the next step of an authentication.
    ///
    /// The packet is the reply to ``EngineAction/authenticationContinued(_:)``. With the code
    /// ``MQTTCodec/PacketReasonCode/reauthenticate``, it starts a new authentication on an open connection.
    ///
    /// - Throws: `EncodeError` if a client may not send this packet. Then nothing is sent.
    public mutating func authenticate(
        _ auth: Auth, now: Instant, into buffer: inout PacketBuffer
    ) throws(EncodeError) {
        let now = MonotonicInstant(now)
        switch phase {
        case .idle, .closing: return
        case .connecting, .connected:
            try link.encoder.encode(.auth(auth), into: &buffer)
            written(now: now)
        }
    }

    mutating func received(_ auth: Auth, _ actions: inout ActionList) throws(Fault) {
        try checkMethod(of: auth)
        actions.append(auth.reasonCode == .success ? .authenticated(auth) : .authenticationContinued(auth))
    }
    /// Checks that AUTH names the authentication method of CONNECT. An AUTH without a method is accepted. The decoder
    /// returns such an AUTH only if it has no properties and reports success.
    func checkMethod(of auth: Auth) throws(Fault) {
        guard let method = configuration.connect.properties.authenticationMethod else {
            throw .protocolError(.unexpectedAuthentication)
        }
        if let other = auth.properties.authenticationMethod, other != method {
            throw .protocolError(.wrongAuthenticationMethod)
        }
    }
}
