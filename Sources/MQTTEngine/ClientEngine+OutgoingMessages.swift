public import MQTTCodec

/// Sends messages, and processes the server's answers to them.
extension ClientEngine {
    /// Publishes `message` now. The caller must hold back the messages that exceed ``publishCapacity``.
    ///
    /// Without a connection, the message fails with ``EngineAction/Failure/notConnected``. A QoS 1 or 2 message fails
    /// with ``EngineAction/Failure/quotaExceeded`` while ``publishCapacity`` is 0. For QoS 0, only a failure is
    /// reported. The end of each QoS 1 or 2 message is reported: ``EngineAction/acknowledged(_:_:_:)``,
    /// ``EngineAction/failed(_:_:)`` or ``EngineAction/returned(_:)``.
    public mutating func publish(
        _ message: OutgoingMessage, now: Instant, into buffer: inout PacketBuffer, _ actions: inout ActionList
    ) {
        let now = MonotonicInstant(now)
        let place: MessageMemory.Place
        do throws(EncodeError) {
            place = try memory.keep(message)
        } catch {
            return actions.append(.failed(message.token, .notEncodable(error)))
        }
        if message.qos == .atMostOnce {
            publishUnacknowledged(memory.view(place), now: now, into: &buffer, &actions)
            memory.discard(place)
        } else if let failure = failureToBegin {
            memory.discard(place)
            actions.append(.failed(message.token, failure))
        } else {
            begin(place, now: now, into: &buffer, &actions)
        }
    }

    /// Publishes `messages` in order, each like ``publish(_:now:into:_:)-(OutgoingMessage,_,_,_)``.
    ///
    /// The engine copies the QoS 1 and 2 messages that it accepts. If the engine's memory already has room for these
    /// messages, copying them allocates no memory.
    package mutating func publish(
        _ messages: UnsafeBufferPointer<MessageView>, now: Instant, into buffer: inout PacketBuffer,
        _ actions: inout ActionList
    ) {
        let now = MonotonicInstant(now)
        for message in messages { publish(message, now: now, into: &buffer, &actions) }
    }

    @inline(__always)
    private mutating func publish(
        _ message: MessageView, now: MonotonicInstant, into buffer: inout PacketBuffer, _ actions: inout ActionList
    ) {
        guard message.header.qos != .atMostOnce else {
            return publishUnacknowledged(message, now: now, into: &buffer, &actions)
        }
        if let failure = failureToBegin {
            actions.append(.failed(message.header.token, failure))
        } else {
            begin(memory.keep(message), now: now, into: &buffer, &actions)
        }
    }

    /// The reason why no QoS 1 or 2 message can be published now; `nil` if a message can be published.
    @inline(__always)
    private var failureToBegin: EngineAction.Failure? {
        guard isConnected else { return .notConnected }
        return publishCapacity > 0 ? nil : .quotaExceeded
    }

    /// Continues the unfinished deliveries of an earlier connection. Writes the PUBREL packets at once, in the order of
    /// their PUBRECs. Queues the PUBLISH packets in their original order.
    ///
    /// The send quota (the limit for messages in flight) and the send limit of the caller do not apply to PUBREL. MQTT
    /// requires no order between PUBLISH and PUBREL.
    mutating func resumeExchanges(now: MonotonicInstant, into buffer: inout PacketBuffer) {
        var unsent: [PacketID] = []
        for id in outgoing.idsInOrder() {
            guard let exchange = outgoing.exchange(of: id) else { continue }
            if exchange.message != nil {
                unsent.append(id)
            } else if !exchange.isHeld {
                release(id, exchange.kind, now: now, into: &buffer)
            }
        }
        link.resendStack = unsent.reversed()
    }

    /// Sends messages of an earlier connection again, while the send quota (the limit for messages in flight) and the
    /// caller's send limit allow it.
    mutating func pump(now: MonotonicInstant, into buffer: inout PacketBuffer, _ actions: inout ActionList) {
        while let id = link.resendStack.last {
            guard resend(id, now: now, into: &buffer, &actions) else { return }
            link.resendStack.removeLast()
        }
    }

    private mutating func publishUnacknowledged(
        _ message: MessageView, now: MonotonicInstant, into buffer: inout PacketBuffer, _ actions: inout ActionList
    ) {
        if !isConnected {
            actions.append(.failed(message.header.token, .notConnected))
        } else if let failure = refusal(of: message.header, now: now) {
            actions.append(.failed(message.header.token, failure))
        } else {
            do throws(EncodeError) {
                try link.write(message, .atMostOnce, isFirst: true, now: now, into: &buffer)
                written(now: now)
                link.unacknowledgeableSentAt = now
            } catch {
                actions.append(.failed(message.header.token, .notEncodable(error)))
            }
        }
    }

    /// Starts the delivery of a QoS 1 or 2 message: assigns a packet id, and writes PUBLISH if nothing must happen
    /// before.
    private mutating func begin(
        _ message: MessageMemory.Place, now: MonotonicInstant, into buffer: inout PacketBuffer,
        _ actions: inout ActionList
    ) {
        let header = memory.header(of: message)
        if let failure = refusal(of: header, now: now) {
            memory.discard(message)
            return actions.append(.failed(header.token, failure))
        }
        let kind: OutgoingExchanges.Kind = header.qos == .exactlyOnce ? .untilPubRec : .untilPubAck
        let isHeld = configuration.awaitsStorage && header.qos == .exactlyOnce
        guard let id = outgoing.begin(kind, header.token, message, at: now, isHeld: isHeld),
            let delivery = Delivery(qos: header.qos, packetID: id)
        else {
            memory.discard(message)
            return actions.append(.failed(header.token, .quotaExceeded))
        }
        if kind == .untilPubRec, mustClear(id) {
            clear(id, now: now, into: &buffer, &actions)
            return link.takeQuota()
        }
        if !isHeld {
            do throws(EncodeError) {
                try link.write(memory.view(message), delivery, isFirst: true, now: now, into: &buffer)
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

    /// Sends the PUBLISH of a delivery that began on an earlier connection. Sets DUP if the PUBLISH was written before
    /// ([MQTT-4.4.0-1]). Returns `false` if the PUBLISH must wait, because the send quota (the limit for messages in
    /// flight) or the send limit of the caller is used up.
    private mutating func resend(
        _ id: PacketID, now: MonotonicInstant, into buffer: inout PacketBuffer, _ actions: inout ActionList
    ) -> Bool {
        // Send no PUBLISH if the exchange (the delivery of a message) ended while it waited to be sent again. Its id is
        // then free, or belongs to a SUBSCRIBE or UNSUBSCRIBE. Also send no PUBLISH if the exchange has no message,
        // because PUBREC arrived or the message was given up.
        guard let exchange = outgoing.exchange(of: id), let message = exchange.message else { return true }
        guard link.quota > 0, link.unacknowledgedPublishCount < sendLimit else { return false }
        if exchange.isHeld || exchange.kind == .untilCleared {
            // Take a part of the send quota (the limit for messages in flight) now, although the PUBLISH may be written
            // later. Otherwise, a later QoS 2 message could be sent before this PUBLISH ([MQTT-4.6.0-1]).
            link.takeQuota()
            outgoing.markHoldsQuota(id)
            if !exchange.isHeld { clear(id, now: now, into: &buffer, &actions) }
            return true
        }
        let header = memory.header(of: message)
        let isFirst = !exchange.isWritten
        // If the PUBLISH was written before, the server may have the message. So the delivery continues even if the
        // message has expired. Only a limit of this server, such as its maximum QoS, ends the delivery.
        if let failure = isFirst ? refusal(of: header, now: now) : refusalByServer(of: header) {
            giveUp(id, header.qos, isFirst: isFirst, now: now, into: &buffer, &actions)
            actions.append(.failed(exchange.token, failure))
            return true
        }
        guard let delivery = Delivery(qos: header.qos, packetID: id, isDuplicate: !isFirst) else { return true }
        do throws(EncodeError) {
            try link.write(memory.view(message), delivery, isFirst: isFirst, now: now, into: &buffer)
        } catch {
            // Encoding may fail, because the server of the new connection may have stricter limits, such as a smaller
            // maximum packet size.
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

    /// Stops the delivery of a message, and discards the message.
    ///
    /// The packet id is free at once, with one exception: if a QoS 2 message was written before, the server may have
    /// this message.
    private mutating func giveUp(
        _ id: PacketID, _ qos: PacketQoS, isFirst: Bool, now: MonotonicInstant, into buffer: inout PacketBuffer,
        _ actions: inout ActionList
    ) {
        guard qos == .exactlyOnce, !isFirst else {
            endExchange(id)
            return
        }
        let isHeld = configuration.awaitsStorage
        guard let exchange = outgoing.giveUp(id, isHeld: isHeld) else { return }
        if let message = exchange.message { memory.discard(message) }
        // PUBREL waits until the caller has stored that the delivery ended. Otherwise, after a restart, the message
        // could be sent again after its PUBREL, which is forbidden ([MQTT-4.3.3-6]).
        guard isHeld else { return release(id, .untilFreed, now: now, into: &buffer) }
        actions.append(ExchangeProgress.givenUp(exchange.token, id))
    }

    /// Writes PUBREL. If the id is reserved until the session ends, writes nothing. If the message was given up
    /// (`untilFreed`), PUBREL waits for a connection whose server supports QoS 2.
    mutating func release(
        _ id: PacketID, _ kind: OutgoingExchanges.Kind, now: MonotonicInstant, into buffer: inout PacketBuffer
    ) {
        if kind == .untilSessionEnds || (kind == .untilFreed && link.maximumQoS < .exactlyOnce) { return }
        link.encoder.encodeSuccess(.pubRel, id, into: &buffer)
        written(now: now)
        outgoing.markReleased(id, at: now)
        awaitAcknowledgement(now: now)
    }

    /// Ends the exchange with this packet id, and discards its message.
    @discardableResult
    @inline(__always)
    mutating func endExchange(_ id: PacketID) -> OutgoingExchanges.Exchange? {
        guard let exchange = outgoing.end(id) else { return nil }
        if let message = exchange.message { memory.discard(message) }
        return exchange
    }

    /// The reason why a message must not be sent, either on this connection or on any connection; `nil` if the message
    /// may be sent.
    @inline(__always)
    func refusal(of header: OutgoingHeader, now: MonotonicInstant) -> EngineAction.Failure? {
        if header.expiresAt <= now || header.firstSendEnd <= now { return .expired }
        return refusalByServer(of: header)
    }

    /// The reason why this server does not accept a message, according to its CONNACK; `nil` if it accepts the message.
    @inline(__always)
    private func refusalByServer(of header: OutgoingHeader) -> EngineAction.Failure? {
        if header.qos > link.maximumQoS { return .notSupportedByServer(.qosNotSupported) }  // [MQTT-3.2.2-11]
        if header.isRetained, !link.isRetainAvailable {
            return .notSupportedByServer(.retainNotSupported)  // [MQTT-3.2.2-14]
        }
        return nil
    }
}

/// Processes the server's answers to outgoing messages.
extension ClientEngine {
    mutating func receivedPubAck(_ acknowledgement: AcknowledgementResult, _ actions: inout ActionList)
        throws(Fault)
    {
        let id = acknowledgement.packetID
        switch outgoing.kind(of: id) {
        case .untilPubAck: finish(id, acknowledgement, &actions)
        case .untilPubRec:
            // A server without QoS 2 may answer a QoS 2 PUBLISH with PUBACK. In this case, PUBACK ends the delivery.
            if !link.isDowngradeKnown { actions.append(.qosDowngraded) }
            link.isDowngradeKnown = true
            finish(id, acknowledgement, &actions)
        case .untilPubComp, .untilCleared, .untilFreed, .untilSubAck, .untilUnsubAck:
            throw .protocolError(.wrongAcknowledgement(.pubAck, id))
        case .untilSessionEnds, nil: break  // The caller ended the exchange, or the session was lost.
        }
    }

    mutating func receivedPubRec(
        _ acknowledgement: AcknowledgementResult, now: MonotonicInstant, into buffer: inout PacketBuffer,
        _ actions: inout ActionList
    ) throws(Fault) {
        let id = acknowledgement.packetID
        switch outgoing.kind(of: id) {
        case .untilPubRec:
            // A failure code in PUBREC ends the delivery (MQTT 5.0, section 4.3.3).
            if acknowledgement.code.isFailure { return finish(id, acknowledgement, &actions) }
            let isHeld = configuration.awaitsStorage
            guard let exchange = outgoing.advanceToPubComp(id, at: now, isHeld: isHeld) else { return }
            if exchange.holdsQuota { link.received() }
            if let message = exchange.message { memory.discard(message) }
            actions.append(ExchangeProgress.receivedByServer(exchange.token))
            if isHeld { return }
            link.encoder.encodeSuccess(.pubRel, id, into: &buffer)
        case .untilPubComp:
            if acknowledgement.code.isFailure { return finishReleased(id, acknowledgement, &actions) }
            if outgoing.exchange(of: id)?.isHeld == true { return }
            link.encoder.encodeSuccess(.pubRel, id, into: &buffer)
        // This PUBREC belongs to an old exchange with this id. No answer is needed, because PUBREL was already sent for
        // the old exchange or will be sent.
        case .untilCleared, .untilFreed: return
        case .untilSessionEnds: return  // No packet uses this id until the session ends.
        case .untilPubAck, .untilSubAck, .untilUnsubAck: throw .protocolError(.wrongAcknowledgement(.pubRec, id))
        case nil: writeAcknowledgement(.pubRel, id, .packetIdentifierNotFound, into: &buffer)
        }
        written(now: now)
    }

    mutating func receivedPubComp(
        _ acknowledgement: AcknowledgementResult, now: MonotonicInstant, into buffer: inout PacketBuffer,
        _ actions: inout ActionList
    ) throws(Fault) {
        let id = acknowledgement.packetID
        switch outgoing.kind(of: id) {
        case .untilPubComp:
            guard acknowledgement.code == .packetIdentifierNotFound else {
                return finishReleased(id, acknowledgement, &actions)
            }
            // The server has already answered an earlier PUBREL, and has forgotten the id. MQTT 5.0 says that this is
            // "not an error during recovery" (section 3.7.2.1), so the result is `success`.
            let answered = AcknowledgementResult(
                packetID: id, code: .success, properties: acknowledgement.properties)
            finishReleased(id, answered, &actions)
        case .untilCleared: receivedCleared(id, now: now, into: &buffer, &actions)
        case .untilFreed: endExchange(id)
        case .untilSessionEnds: break
        case .untilPubAck, .untilPubRec, .untilSubAck, .untilUnsubAck:
            throw .protocolError(.wrongAcknowledgement(.pubComp, id))
        case nil: break
        }
    }

    /// Ends the delivery of a message whose PUBREC arrived before.
    private mutating func finishReleased(
        _ id: PacketID, _ acknowledgement: AcknowledgementResult, _ actions: inout ActionList
    ) {
        if outgoing.exchange(of: id)?.holdsQuota == true { link.completed() }
        finish(id, acknowledgement, &actions)
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

    /// Writes an acknowledgement with `code`, and returns the code that was written. Before MQTT 5, the packet has no
    /// code, and the result is `success`.
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
        // If MQTT does not allow the code in this packet, the caller made a mistake. Leave out the code, because the
        // delivery must continue.
        if (try? link.encoder.encode(packet, into: &buffer)) == nil {
            link.encoder.encodeSuccess(type, id, into: &buffer)
            return .success
        }
        return acknowledgement.reasonCode
    }
}
