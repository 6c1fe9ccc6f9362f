public import MQTTCodec

/// Receives messages, and writes their acknowledgements.
extension ClientEngine {
    /// Processes a PUBLISH.
    ///
    /// A PUBLISH may redefine a topic alias that messages in `actions`, from index `first` on, still use. In this case,
    /// the function changes nothing and returns `false`. The caller must read those messages, and then pass the PUBLISH
    /// again.
    mutating func receivedPublish(
        _ frame: PacketFrame, in bytes: UnsafeRawBufferPointer, now: MonotonicInstant, behind first: Int,
        into buffer: inout PacketBuffer, _ actions: inout ActionList
    ) throws(Fault) -> Bool {
        let view = try publish(frame, in: bytes)
        if let alias = view.topicAlias {
            if !view.topic.isEmpty, link.incomingAliases.topic(of: alias) != nil, actions.messages.count > first {
                return false
            }
            try resolve(alias, view, in: bytes)
        }
        let handle: IncomingMessage.Handle?
        switch view.delivery {
        case .atMostOnce: handle = nil
        case .atLeastOnce(let id, _):
            if acknowledgesAtOnce {
                link.encoder.encodeSuccess(.pubAck, id, into: &buffer)
                written(now: now)
                handle = nil
            } else {
                try checkReceiveMaximum()
                handle = incoming.hand(id, .atLeastOnce)
            }
        case .exactlyOnce(let id, let isDuplicate):
            if !incoming.isCounted(id) { try checkReceiveMaximum() }
            let isNew = isNewQoS2(
                id, isDuplicate: isDuplicate, fingerprint: fingerprint(of: view, in: bytes.bytes), now: now,
                into: &buffer, &actions)
            guard isNew else { return true }
            if acknowledgesAtOnce {
                link.encoder.encodeSuccess(.pubRec, id, into: &buffer)
                written(now: now)
                handle = nil
            } else {
                handle = incoming.hand(id, .exactlyOnce)
            }
        }
        actions.append(IncomingMessage(frame: frame, view: view, handle: handle))
        return true
    }

    /// Records a QoS 2 PUBLISH, and returns true if its message is new. If the message is a repetition, PUBREC is
    /// written again. If the caller has not acknowledged the message yet, PUBREC is written after the caller's
    /// acknowledgement.
    @inline(__always)
    mutating func isNewQoS2(
        _ id: PacketID, isDuplicate: Bool, fingerprint: UInt32, now: MonotonicInstant, into buffer: inout PacketBuffer,
        _ actions: inout ActionList
    ) -> Bool {
        switch incoming.receivedQoS2(id, isDuplicate: isDuplicate, fingerprint: fingerprint) {
        case .new: return true
        case .replacing:
            if configuration.awaitsStorage { actions.append(ExchangeProgress.incomingReplaced(id)) }
            return true
        case .beingProcessed: incoming.waitAgain(for: id)
        case .repeated: incoming.answerAgain(id)
        }
        writeAnswers(now: now, into: &buffer, &actions)
        return false
    }

    private func fingerprint(of view: PublishView, in bytes: RawSpan) -> UInt32 {
        let payload = bytes.extracting(view.payload)
        guard view.topic.isEmpty, let alias = view.topicAlias, let topic = link.incomingAliases.topic(of: alias) else {
            return UInt32(fingerprintOf: bytes.extracting(view.topic), payload)
        }
        return topic.withBytes { UInt32(fingerprintOf: $0, payload) }
    }

    /// True if the engine acknowledges a message when it arrives.
    ///
    /// Answers must keep the order of their messages ([MQTT-4.6.0-2]). So while earlier answers wait for the caller,
    /// new messages also wait for the caller's acknowledgement, even in automatic mode.
    @inline(__always)
    private var acknowledgesAtOnce: Bool {
        configuration.acknowledgements == .automatic && !incoming.hasPending
    }

    @inline(__always)
    private func publish(_ frame: PacketFrame, in bytes: UnsafeRawBufferPointer) throws(Fault) -> PublishView {
        do throws(DecodeError) {
            return try link.decoder.publish(frame, in: bytes)
        } catch {
            throw .malformed(error)
        }
    }

    private mutating func resolve(
        _ alias: UInt16, _ view: PublishView, in bytes: UnsafeRawBufferPointer
    ) throws(Fault) {
        guard link.incomingAliases.allows(alias) else { throw .protocolError(.topicAliasTooHigh(alias)) }
        if view.topic.isEmpty {
            guard link.incomingAliases.topic(of: alias) != nil else {
                throw .protocolError(.unknownTopicAlias(alias))
            }
        } else {
            let topic = bytes.bytes.extracting(view.topic).withUnsafeBytes { Array($0) }
            link.incomingAliases.define(alias, topic)
        }
    }

    /// Throws if the server exceeds the client's receive maximum ([MQTT-3.3.4-9]). Only MQTT 5 has this limit. The
    /// check runs before the message is recorded, so that the message is not delivered. The server sends the message
    /// again later.
    @inline(__always)
    private func checkReceiveMaximum() throws(Fault) {
        guard link.version >= .v5, incoming.outstanding >= Int(configuration.receiveMaximum) else { return }
        throw .protocolError(.receiveMaximumExceeded)
    }

    mutating func receivedPubRel(
        _ acknowledgement: AcknowledgementResult, now: MonotonicInstant, into buffer: inout PacketBuffer,
        _ actions: inout ActionList
    ) throws(Fault) {
        let id = acknowledgement.packetID
        if configuration.awaitsStorage {
            guard !incoming.isReleasing(id) else { return }
            if incoming.receivedPubRel(id) {
                incoming.beginRelease(id, isPubCompDue: true)
                return actions.append(ExchangeProgress.incomingReleased(id))
            }
            writeAcknowledgement(.pubComp, id, .packetIdentifierNotFound, into: &buffer)
        } else if incoming.receivedPubRel(id) {
            link.encoder.encodeSuccess(.pubComp, id, into: &buffer)
            actions.append(ExchangeProgress.incomingReleased(id))
        } else {
            writeAcknowledgement(.pubComp, id, .packetIdentifierNotFound, into: &buffer)
        }
        written(now: now)
    }

    /// Acknowledges the message of `handle`. In MQTT 5, a failure code refuses the message.
    ///
    /// The acknowledgement has no code before MQTT 5, or if PUBACK and PUBREC may not carry `code`. If a QoS 2 message
    /// is refused, the delivery ends: ``EngineAction/incomingReleased(_:)`` follows, and the server may use the packet
    /// id for a new message.
    ///
    /// The acknowledgement is written when all earlier messages are acknowledged ([MQTT-4.6.0-2]). If the connection of
    /// a message has ended, the server sends the message again. In this case, the handle of a QoS 1 message is ignored.
    /// The acknowledgement of a QoS 2 message is kept until the message arrives again. Returns `false` if the handle
    /// was ignored.
    @discardableResult
    public mutating func acknowledge(
        _ handle: IncomingMessage.Handle, _ code: PacketReasonCode = .success, now: Instant,
        into buffer: inout PacketBuffer, _ actions: inout ActionList
    ) -> Bool {
        let now = MonotonicInstant(now)
        let isKnown = incoming.answer(handle, with: code)
        if isConnected { writeAnswers(now: now, into: &buffer, &actions) }
        return isKnown
    }

    /// True until the acknowledgement of this message is written, or its handle becomes invalid.
    public func awaitsAcknowledgement(_ handle: IncomingMessage.Handle) -> Bool { incoming.awaitsAnswer(handle) }

    mutating func writeAnswers(
        now: MonotonicInstant, into buffer: inout PacketBuffer, _ actions: inout ActionList
    ) {
        while let (id, qos, code) = incoming.nextAnswer() {
            let type: PacketType = qos == .exactlyOnce ? .pubRec : .pubAck
            if code == .success {
                link.encoder.encodeSuccess(type, id, into: &buffer)
            } else if writeAcknowledgement(type, id, code, into: &buffer).isFailure, qos == .exactlyOnce {
                refused(id, &actions)
            }
            written(now: now)
        }
    }

    /// Ends the delivery of a refused QoS 2 message, because PUBREC with the failure code was written.
    private mutating func refused(_ id: PacketID, _ actions: inout ActionList) {
        guard incoming.refused(id) else { return }
        if configuration.awaitsStorage { incoming.beginRelease(id, isPubCompDue: false) }
        actions.append(ExchangeProgress.incomingReleased(id))
    }
}
