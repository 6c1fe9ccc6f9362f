public import MQTTCodec

/// Incoming messages and their acknowledgements.
extension ClientEngine {
    /// Takes a PUBLISH, unless it gives another topic to an alias by which the messages from `first` on may have come: then
    /// says `false`, for these to be looked at before.
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
            let arrival = incoming.receivedQoS2(
                id, isDuplicate: isDuplicate, fingerprint: fingerprint(of: view, in: bytes.bytes))
            switch arrival {
            case .new, .replacing: break
            case .beingProcessed: incoming.waitAgain(for: id)
            case .repeated: incoming.answerAgain(id)
            }
            guard arrival == .new || arrival == .replacing else {
                writeAnswers(now: now, into: &buffer, &actions)
                return true
            }
            if acknowledgesAtOnce {
                link.encoder.encodeSuccess(.pubRec, id, into: &buffer)
                written(now: now)
            }
            if arrival == .replacing, configuration.awaitsStorage {
                actions.append(ExchangeProgress.incomingReplaced(id))
            }
            handle = acknowledgesAtOnce ? nil : incoming.hand(id, .exactlyOnce)
        }
        actions.append(IncomingMessage(frame: frame, view: view, handle: handle))
        return true
    }

    private func fingerprint(of view: PublishView, in bytes: RawSpan) -> UInt32 {
        let payload = bytes.extracting(view.payload)
        guard view.topic.isEmpty, let alias = view.topicAlias, let topic = link.incomingAliases.topic(of: alias) else {
            return UInt32(fingerprintOf: bytes.extracting(view.topic), payload)
        }
        return UInt32(fingerprintOf: topic.span.bytes, payload)
    }

    /// Whether the engine acknowledges a message as it comes. While answers to earlier ones are due, later ones wait for
    /// them ([MQTT-4.6.0-2]), and so are the caller's as well.
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

    /// MQTT 5 lets us limit what the server sends, and end it when it sends more ([MQTT-3.3.4-9]). Before anything is noted
    /// of a message: it is not delivered, and comes again.
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

    /// Acknowledges a message that was handed over with a handle; a failure code of MQTT 5 refuses it.
    ///
    /// A code that PUBACK and PUBREC may not carry, and any code before MQTT 5, acknowledges it without one. A QoS 2 message
    /// that is refused is over: ``EngineAction/incomingReleased(_:)`` follows, and its packet id may come with a new one.
    ///
    /// The packet is written as soon as the messages before it have been acknowledged ([MQTT-4.6.0-2]). A handle of a
    /// message that will come again, because its connection ended, is ignored; the acknowledgement of a QoS 2 message is
    /// kept instead for when it comes again. Says whether the handle meant anything.
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

    /// Whether the acknowledgement of a message that was handed over with a handle still means anything.
    public func awaitsAcknowledgement(_ handle: IncomingMessage.Handle) -> Bool { incoming.awaitsAnswer(handle) }

    private mutating func writeAnswers(
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

    /// The server is being told that a QoS 2 message was refused.
    private mutating func refused(_ id: PacketID, _ actions: inout ActionList) {
        guard incoming.refused(id) else { return }
        if configuration.awaitsStorage { incoming.beginRelease(id, isPubCompDue: false) }
        actions.append(ExchangeProgress.incomingReleased(id))
    }
}
