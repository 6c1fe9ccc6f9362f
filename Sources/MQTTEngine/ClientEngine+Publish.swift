public import MQTTCodec

/// Outgoing messages.
extension ClientEngine {
    /// Publishes `message`, now or as soon as there is a connection and a turn.
    ///
    /// QoS 0 is written at once, and fails with ``EngineAction/Failure/notConnected`` when there is no connection. QoS 1 and 2
    /// wait in order, and their end is reported in every case: ``EngineAction/acknowledged(_:_:_:)`` or
    /// ``EngineAction/failed(_:_:)``.
    public mutating func publish(
        _ message: OutgoingMessage, now: Instant, into buffer: inout PacketBuffer, _ actions: inout ActionList
    ) {
        var batch = MessageBatch()
        batch.append(message)
        publish(batch, now: now, into: &buffer, &actions)
    }

    /// Publishes the messages of `batch` in order, each like ``publish(_:now:into:_:)-(OutgoingMessage,_,_,_)``.
    ///
    /// Nothing is allocated per message once the engine has the memory for as many.
    public mutating func publish(
        _ batch: borrowing MessageBatch, now: Instant, into buffer: inout PacketBuffer, _ actions: inout ActionList
    ) {
        let now = Moment(now)
        batch.forEach { message in
            publish(message, now: now, into: &buffer, &actions)
        } refused: { token, error in
            actions.append(.failed(token, .notEncodable(error)))
        }
    }

    @inline(__always)
    private mutating func publish(
        _ message: MessageView, now: Moment, into buffer: inout PacketBuffer, _ actions: inout ActionList
    ) {
        guard message.header.qos != .atMostOnce else {
            return publishUnacknowledged(message, now: now, into: &buffer, &actions)
        }
        if isConnected, queue.isEmpty, link.resendStack.isEmpty, link.quota > 0, !outgoing.isFull {
            begin(store.keep(message), now: now, into: &buffer, &actions)
        } else if queue.count < configuration.maximumQueued {
            enqueue(store.keep(message))
            if isConnected { pump(now: now, into: &buffer, &actions) }
        } else {
            actions.append(.failed(message.header.token, .queueFull))
        }
    }

    /// Lets a message wait for a connection or for its turn.
    @inline(__always)
    mutating func enqueue(_ message: MessageStore.Place) {
        queue.append(message)
        if let expiry = message.record.header.expiresAt { queueExpiry = min(expiry, queueExpiry ?? expiry) }
    }

    /// Fails the messages that wait and whose time is over.
    mutating func failExpired(now: Moment, _ actions: inout ActionList) {
        guard let expiry = queueExpiry, expiry <= now else { return }
        queueExpiry = nil
        for message in queue.removeAll() {
            let header = message.record.header
            if let expiry = header.expiresAt, expiry <= now {
                store.discard(message)
                actions.append(.failed(header.token, .expired))
            } else {
                enqueue(message)
            }
        }
    }

    /// Writes what waits for its turn, while the server's quota lasts: exchanges of an earlier connection first.
    mutating func pump(now: Moment, into buffer: inout PacketBuffer, _ actions: inout ActionList) {
        while let id = link.resendStack.last {
            guard resend(id, now: now, into: &buffer, &actions) else { return }
            link.resendStack.removeLast()
        }
        while link.quota > 0, !outgoing.isFull, let message = queue.popFirst() {
            begin(message, now: now, into: &buffer, &actions)
        }
    }

    private mutating func publishUnacknowledged(
        _ message: MessageView, now: Moment, into buffer: inout PacketBuffer, _ actions: inout ActionList
    ) {
        if !isConnected {
            actions.append(.failed(message.header.token, .notConnected))
        } else if let failure = refusal(of: message.header, now: now) {
            actions.append(.failed(message.header.token, failure))
        } else {
            do throws(EncodeError) {
                try link.write(message, .atMostOnce, isFirst: true, now: now, into: &buffer)
                written(now: now)
            } catch {
                actions.append(.failed(message.header.token, .notEncodable(error)))
            }
        }
    }

    /// Starts the exchange of a QoS 1 or 2 message.
    private mutating func begin(
        _ message: MessageStore.Place, now: Moment, into buffer: inout PacketBuffer, _ actions: inout ActionList
    ) {
        let header = message.record.header
        if let failure = refusal(of: header, now: now) {
            store.discard(message)
            return actions.append(.failed(header.token, failure))
        }
        let kind: OutgoingExchanges.Kind = header.qos == .exactlyOnce ? .untilPubRec : .untilPubAck
        let isHeld = configuration.awaitsStorage && header.qos == .exactlyOnce
        guard let id = outgoing.begin(kind, header.token, message, at: now, isHeld: isHeld),
            let delivery = Delivery(qos: header.qos, packetID: id)
        else {
            store.discard(message)
            return actions.append(.failed(header.token, .queueFull))
        }
        if kind == .untilPubRec, mustClear(id) {
            clear(id, now: now, into: &buffer, &actions)
            return link.takeQuota()
        }
        if !isHeld {
            do throws(EncodeError) {
                try link.write(store.view(message), delivery, isFirst: true, now: now, into: &buffer)
            } catch {
                endExchange(id)
                return actions.append(.failed(header.token, .notEncodable(error)))
            }
            written(now: now)
            awaitAcknowledgement(now: now)
        }
        link.takeQuota()
        actions.append(ExchangeProgress.sent(header.token, id))
    }

    /// Sends an exchange of an earlier connection on: PUBREL, or PUBLISH, with DUP if it was written before
    /// ([MQTT-4.4.0-1]). Says `false` when it has to wait for quota.
    private mutating func resend(
        _ id: PacketID, now: Moment, into buffer: inout PacketBuffer, _ actions: inout ActionList
    ) -> Bool {
        // One that ended while it waited for quota has left its id, perhaps to a SUBSCRIBE or UNSUBSCRIBE.
        guard let exchange = outgoing.exchange(of: id), exchange.kind.isPublish else { return true }
        guard let message = exchange.message else {
            if !exchange.isHeld { release(id, exchange.kind, now: now, into: &buffer) }
            return true
        }
        guard link.quota > 0 else { return false }
        if exchange.isHeld || exchange.kind == .untilCleared {
            // It has its turn, though its PUBLISH comes later: none of QoS 2 behind it goes before ([MQTT-4.6.0-1]).
            link.takeQuota()
            outgoing.markHoldsQuota(id)
            if !exchange.isHeld { clear(id, now: now, into: &buffer, &actions) }
            return true
        }
        let header = message.record.header
        let isFirst = !exchange.isWritten
        // Its time does not end a message that may have arrived; what this server does not take does.
        if let failure = isFirst ? refusal(of: header, now: now) : refusalByServer(of: header) {
            giveUp(id, header.qos, isFirst: isFirst, now: now, into: &buffer, &actions)
            actions.append(.failed(exchange.token, failure))
            return true
        }
        guard let delivery = Delivery(qos: header.qos, packetID: id, isDuplicate: !isFirst) else { return true }
        do throws(EncodeError) {
            try link.write(store.view(message), delivery, isFirst: isFirst, now: now, into: &buffer)
        } catch {
            // When it began it could be written: the new connection allows less.
            giveUp(id, header.qos, isFirst: isFirst, now: now, into: &buffer, &actions)
            actions.append(.failed(exchange.token, .notEncodable(error)))
            return true
        }
        written(now: now)
        link.takeQuota()
        outgoing.markHoldsQuota(id)
        outgoing.markPublished(id, at: now)
        awaitAcknowledgement(now: now)
        return true
    }

    /// Lets the message of an exchange go. Its id is free at once, unless the server may have the message.
    private mutating func giveUp(
        _ id: PacketID, _ qos: PacketQoS, isFirst: Bool, now: Moment, into buffer: inout PacketBuffer,
        _ actions: inout ActionList
    ) {
        guard qos == .exactlyOnce, !isFirst else {
            endExchange(id)
            return
        }
        let isHeld = configuration.awaitsStorage
        guard let exchange = outgoing.giveUp(id, isHeld: isHeld) else { return }
        if let message = exchange.message { store.discard(message) }
        // A message that the store still has when the process ends is sent again, which must not be behind PUBREL
        // ([MQTT-4.3.3-6]).
        guard isHeld else { return release(id, .untilFreed, now: now, into: &buffer) }
        actions.append(ExchangeProgress.givenUp(exchange.token, id))
    }

    /// Writes PUBREL. What was given up waits for a connection whose server knows it.
    mutating func release(
        _ id: PacketID, _ kind: OutgoingExchanges.Kind, now: Moment, into buffer: inout PacketBuffer
    ) {
        if kind == .untilFreed, link.maximumQoS < .exactlyOnce { return }
        link.encoder.encodeSuccess(.pubRel, id, into: &buffer)
        written(now: now)
        outgoing.markReleased(id, at: now)
        awaitAcknowledgement(now: now)
    }

    /// Ends the exchange of `id` and lets its message go.
    @discardableResult
    @inline(__always)
    mutating func endExchange(_ id: PacketID) -> OutgoingExchanges.Exchange? {
        guard let exchange = outgoing.end(id) else { return nil }
        if let message = exchange.message { store.discard(message) }
        return exchange
    }

    /// Why a message may not be sent on this connection, or at all.
    @inline(__always)
    func refusal(of header: OutgoingHeader, now: Moment) -> EngineAction.Failure? {
        if let expiry = header.expiresAt, expiry <= now { return .expired }
        return refusalByServer(of: header)
    }

    /// Why the server does not take a message on this connection, as its CONNACK says.
    @inline(__always)
    private func refusalByServer(of header: OutgoingHeader) -> EngineAction.Failure? {
        if header.qos > link.maximumQoS { return .notSupportedByServer(.qosNotSupported) }  // [MQTT-3.2.2-11]
        if header.isRetained, !link.isRetainAvailable {
            return .notSupportedByServer(.retainNotSupported)  // [MQTT-3.2.2-14]
        }
        return nil
    }
}

/// The server's answers to outgoing messages.
extension ClientEngine {
    mutating func receivedPubAck(_ acknowledgement: AcknowledgementResult, _ actions: inout ActionList)
        throws(Fault)
    {
        let id = acknowledgement.packetID
        switch outgoing.kind(of: id) {
        case .untilPubAck: finish(id, acknowledgement, &actions)
        case .untilPubRec:
            // A server without QoS 2 may answer as if the message had QoS 1: the exchange is over all the same.
            if !link.isDowngradeKnown { actions.append(.qosDowngraded) }
            link.isDowngradeKnown = true
            finish(id, acknowledgement, &actions)
        case .untilPubComp, .untilCleared, .untilFreed, .untilSubAck, .untilUnsubAck:
            throw .protocolError(.wrongAcknowledgement(.pubAck, id))
        case nil: break  // An answer to an exchange that a lost session ended.
        }
    }

    mutating func receivedPubRec(
        _ acknowledgement: AcknowledgementResult, now: Moment, into buffer: inout PacketBuffer,
        _ actions: inout ActionList
    ) throws(Fault) {
        let id = acknowledgement.packetID
        switch outgoing.kind(of: id) {
        case .untilPubRec:
            if acknowledgement.code.isFailure { return finish(id, acknowledgement, &actions) }  // 4.3.3
            let isHeld = configuration.awaitsStorage
            guard let exchange = outgoing.advanceToPubComp(id, at: now, isHeld: isHeld) else { return }
            if let message = exchange.message { store.discard(message) }
            actions.append(ExchangeProgress.receivedByServer(exchange.token))
            if isHeld { return }
            link.encoder.encodeSuccess(.pubRel, id, into: &buffer)
        case .untilPubComp:
            if acknowledgement.code.isFailure { return finish(id, acknowledgement, &actions) }
            if outgoing.exchange(of: id)?.isHeld == true { return }
            link.encoder.encodeSuccess(.pubRel, id, into: &buffer)
        case .untilCleared, .untilFreed: return  // Of what was left there; the PUBREL is on its way, or will be.
        case .untilPubAck, .untilSubAck, .untilUnsubAck: throw .protocolError(.wrongAcknowledgement(.pubRec, id))
        case nil: writeAcknowledgement(.pubRel, id, .packetIdentifierNotFound, into: &buffer)
        }
        written(now: now)
    }

    mutating func receivedPubComp(
        _ acknowledgement: AcknowledgementResult, now: Moment, into buffer: inout PacketBuffer,
        _ actions: inout ActionList
    ) throws(Fault) {
        let id = acknowledgement.packetID
        switch outgoing.kind(of: id) {
        case .untilPubComp:
            guard acknowledgement.code == .packetIdentifierNotFound else {
                return finish(id, acknowledgement, &actions)
            }
            // The server has answered an earlier PUBREL and forgotten the id: "not an error during recovery", 3.7.2.1.
            let answered = AcknowledgementResult(
                packetID: id, code: .success, properties: acknowledgement.properties)
            finish(id, answered, &actions)
        case .untilCleared: receivedCleared(id, now: now, into: &buffer, &actions)
        case .untilFreed: endExchange(id)
        case .untilPubAck, .untilPubRec, .untilSubAck, .untilUnsubAck:
            throw .protocolError(.wrongAcknowledgement(.pubComp, id))
        case nil: break
        }
    }

    private mutating func finish(
        _ id: PacketID, _ acknowledgement: AcknowledgementResult, _ actions: inout ActionList
    ) {
        guard let exchange = endExchange(id) else { return }
        if exchange.holdsQuota { link.returnQuota() }  // [MQTT-3.3.4-7]
        if acknowledgement.properties.isEmpty {
            actions.append(ExchangeProgress.acknowledged(exchange.token, acknowledgement.code))
        } else {
            actions.append(.acknowledged(exchange.token, acknowledgement.code, acknowledgement.properties))
        }
    }

    /// Writes an acknowledgement with `code`, which versions before MQTT 5 leave out, and returns the code that it has.
    @discardableResult
    mutating func writeAcknowledgement(
        _ type: PacketType, _ id: PacketID, _ code: PacketReasonCode, into buffer: inout PacketBuffer
    ) -> PacketReasonCode {
        let acknowledgement = Acknowledgement(packetID: id, reasonCode: link.version >= .v5 ? code : .success)
        let packet: Packet =
            switch type {
            case .pubRec: .pubRec(acknowledgement)
            case .pubRel: .pubRel(acknowledgement)
            case .pubComp: .pubComp(acknowledgement)
            default: .pubAck(acknowledgement)
            }
        // A code that the packet may not carry is the caller's mistake; the exchange must go on.
        if (try? link.encoder.encode(packet, into: &buffer)) == nil {
            link.encoder.encodeSuccess(type, id, into: &buffer)
            return .success
        }
        return acknowledgement.reasonCode
    }
}
