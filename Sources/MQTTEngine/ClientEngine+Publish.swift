public import MQTTCodec

/// Outgoing messages.
extension ClientEngine {
    /// Publishes `message`, now or as soon as there is a connection and a turn.
    ///
    /// QoS 0 is written at once, and fails with ``EngineAction/Failure/notConnected`` when there is no connection. QoS 1 and 2
    /// wait in order, and their end is reported in every case: ``EngineAction/acknowledged(_:_:_:)`` or
    /// ``EngineAction/failed(_:_:)``.
    public mutating func publish(
        _ message: OutgoingMessage, now: Instant, into buffer: inout PacketBuffer, _ actions: inout [EngineAction]
    ) {
        guard message.qos != .atMostOnce else {
            return publishUnacknowledged(message, now: now, into: &buffer, &actions)
        }
        if isConnected, queue.isEmpty, link.resendStack.isEmpty, link.quota > 0 {
            begin(message, now: now, into: &buffer, &actions)
        } else if queue.count < configuration.maximumQueued {
            queue.append(message)
            if isConnected { pump(now: now, into: &buffer, &actions) }
        } else {
            actions.append(.failed(message.token, .queueFull))
        }
    }

    /// Writes what waits for its turn, while the server's quota lasts: exchanges of an earlier connection first.
    mutating func pump(now: Instant, into buffer: inout PacketBuffer, _ actions: inout [EngineAction]) {
        while let id = link.resendStack.last {
            guard resend(id, now: now, into: &buffer, &actions) else { return }
            link.resendStack.removeLast()
        }
        while link.quota > 0, !outgoing.isFull, let message = queue.popFirst() {
            begin(message, now: now, into: &buffer, &actions)
        }
    }

    private mutating func publishUnacknowledged(
        _ message: OutgoingMessage, now: Instant, into buffer: inout PacketBuffer, _ actions: inout [EngineAction]
    ) {
        if !isConnected {
            actions.append(.failed(message.token, .notConnected))
        } else if let failure = refusal(of: message, now: now) {
            actions.append(.failed(message.token, failure))
        } else if let error = write(message, .atMostOnce, isFirst: true, now: now, into: &buffer) {
            actions.append(.failed(message.token, .notEncodable(error)))
        }
    }

    /// Starts the exchange of a QoS 1 or 2 message.
    private mutating func begin(
        _ message: OutgoingMessage, now: Instant, into buffer: inout PacketBuffer, _ actions: inout [EngineAction]
    ) {
        if let failure = refusal(of: message, now: now) {
            return actions.append(.failed(message.token, failure))
        }
        let kind: OutgoingExchanges.Kind = message.qos == .exactlyOnce ? .untilPubRec : .untilPubAck
        guard let id = outgoing.begin(kind, message.token, message, at: now),
            let delivery = Delivery(qos: message.qos, packetID: id)
        else { return actions.append(.failed(message.token, .queueFull)) }
        if let error = write(message, delivery, isFirst: true, now: now, into: &buffer) {
            outgoing.end(id)
            return actions.append(.failed(message.token, .notEncodable(error)))
        }
        link.takeQuota()
        awaitAcknowledgement(now: now)
        actions.append(.sent(message.token, id))
    }

    /// Sends an exchange of an earlier connection on: PUBLISH with DUP, or PUBREL ([MQTT-4.4.0-1]). Says `false` when it
    /// has to wait for quota.
    private mutating func resend(
        _ id: PacketID, now: Instant, into buffer: inout PacketBuffer, _ actions: inout [EngineAction]
    ) -> Bool {
        guard let exchange = outgoing.exchange(of: id) else { return true }
        guard let message = exchange.message else {
            link.encoder.encodeSuccess(.pubRel, id, into: &buffer)
            written(now: now)
            outgoing.markSent(id, at: now, takingQuota: false)
            awaitAcknowledgement(now: now)
            return true
        }
        guard link.quota > 0 else { return false }
        guard let delivery = Delivery(qos: message.qos, packetID: id, isDuplicate: true) else { return true }
        if let error = write(message, delivery, isFirst: false, now: now, into: &buffer) {
            // It could be written before: the new connection allows less.
            outgoing.end(id)
            actions.append(.failed(message.token, .notEncodable(error)))
            return true
        }
        link.takeQuota()
        outgoing.markSent(id, at: now, takingQuota: true)
        awaitAcknowledgement(now: now)
        return true
    }

    /// Why `message` may not be sent on this connection, or at all.
    private func refusal(of message: OutgoingMessage, now: Instant) -> EngineAction.Failure? {
        if let expiry = message.expiry, expiry <= now { return .expired }
        if message.qos > link.maximumQoS { return .notSupportedByServer(.qosNotSupported) }  // [MQTT-3.2.2-11]
        if message.isRetained, !link.isRetainAvailable {
            return .notSupportedByServer(.retainNotSupported)  // [MQTT-3.2.2-14]
        }
        return nil
    }

    private mutating func write(
        _ message: OutgoingMessage, _ delivery: Delivery, isFirst: Bool, now: Instant, into buffer: inout PacketBuffer
    ) -> EncodeError? {
        var properties = link.version >= .v5 ? message.properties : PacketProperties()
        var topic = message.topic
        var defined: UInt16?
        if link.version >= .v5 {
            if let expiry = message.expiry {
                properties.append(.messageExpiryInterval(Self.wholeSeconds(from: now, to: expiry)))
            }
            if isFirst {
                switch link.outgoingAliases.use(for: topic) {
                case .none: break
                case .define(let alias):
                    properties.append(.topicAlias(alias))
                    defined = alias
                case .replace(let alias):
                    properties.append(.topicAlias(alias))
                    topic = ""
                }
            }
        }
        do throws(EncodeError) {
            try link.encoder.encodePublish(
                topic: topic, payload: message.payload.span.bytes, delivery: delivery,
                isRetained: message.isRetained, properties: properties, into: &buffer)
            written(now: now)
            return nil
        } catch {
            if let defined { link.outgoingAliases.forget(defined) }
            return error
        }
    }

    /// The seconds from `now` to `end`, rounded up, as a message expiry interval.
    private static func wholeSeconds(from now: Instant, to end: Instant) -> UInt32 {
        let left = now.duration(to: end).components
        guard left.seconds >= 0, left.attoseconds >= 0 else { return 0 }
        return UInt32(clamping: left.attoseconds > 0 ? left.seconds.addingClamped(1) : left.seconds)
    }
}

extension Int64 {
    fileprivate func addingClamped(_ other: Int64) -> Int64 {
        let (sum, isOverflow) = addingReportingOverflow(other)
        return isOverflow ? .max : sum
    }
}

/// The server's answers to outgoing messages.
extension ClientEngine {
    mutating func receivedPubAck(_ acknowledgement: AcknowledgementResult, _ actions: inout [EngineAction])
        throws(Fault)
    {
        let id = acknowledgement.packetID
        switch outgoing.kind(of: id) {
        // A server without QoS 2 may answer as if the message had QoS 1: the exchange is over all the same.
        case .untilPubAck, .untilPubRec: finish(id, acknowledgement, &actions)
        case .untilPubComp, .untilSubAck, .untilUnsubAck: throw .protocolError(.wrongAcknowledgement(.pubAck, id))
        case nil: break  // An answer to an exchange that a lost session ended.
        }
    }

    mutating func receivedPubRec(
        _ acknowledgement: AcknowledgementResult, now: Instant, into buffer: inout PacketBuffer,
        _ actions: inout [EngineAction]
    ) throws(Fault) {
        let id = acknowledgement.packetID
        switch outgoing.kind(of: id) {
        case .untilPubRec:
            if acknowledgement.code.isFailure { return finish(id, acknowledgement, &actions) }  // 4.3.3
            guard let token = outgoing.advanceToPubComp(id, at: now) else { return }
            link.encoder.encodeSuccess(.pubRel, id, into: &buffer)
            actions.append(.receivedByServer(token))
        case .untilPubComp:
            if acknowledgement.code.isFailure { return finish(id, acknowledgement, &actions) }
            link.encoder.encodeSuccess(.pubRel, id, into: &buffer)
        case .untilPubAck, .untilSubAck, .untilUnsubAck: throw .protocolError(.wrongAcknowledgement(.pubRec, id))
        case nil: writeAcknowledgement(.pubRel, id, .packetIdentifierNotFound, into: &buffer)
        }
        written(now: now)
    }

    mutating func receivedPubComp(_ acknowledgement: AcknowledgementResult, _ actions: inout [EngineAction])
        throws(Fault)
    {
        let id = acknowledgement.packetID
        switch outgoing.kind(of: id) {
        case .untilPubComp: finish(id, acknowledgement, &actions)
        case .untilPubAck, .untilPubRec, .untilSubAck, .untilUnsubAck:
            throw .protocolError(.wrongAcknowledgement(.pubComp, id))
        case nil: break
        }
    }

    private mutating func finish(
        _ id: PacketID, _ acknowledgement: AcknowledgementResult, _ actions: inout [EngineAction]
    ) {
        guard let exchange = outgoing.end(id) else { return }
        if exchange.holdsQuota { link.returnQuota() }  // [MQTT-3.3.4-7]
        actions.append(.acknowledged(exchange.token, acknowledgement.code, acknowledgement.properties))
    }

    /// Writes an acknowledgement with `code`, which versions before MQTT 5 leave out.
    mutating func writeAcknowledgement(
        _ type: PacketType, _ id: PacketID, _ code: PacketReasonCode, into buffer: inout PacketBuffer
    ) {
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
        }
    }
}
