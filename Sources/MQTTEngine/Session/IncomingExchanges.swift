import MQTTCodec

/// The exchanges that the server started and we have not finished.
///
/// A QoS 2 id is held from the first PUBLISH to PUBREL, so that the message is delivered once however often it comes
/// ([MQTT-4.3.3-10]). With acknowledgement on command, answers wait in the order of their messages ([MQTT-4.6.0-2],
/// [MQTT-4.6.0-3]): one is written when it and all before it have been given.
struct IncomingExchanges {
    /// An answer that the caller has still to give, or that waits for another one before it.
    private struct Pending {
        let packetID: PacketID
        let qos: PacketQoS
        let serial: UInt64
        var answer: PacketReasonCode?
    }

    /// What to do with a QoS 2 PUBLISH.
    enum Arrival: Equatable {
        /// It is new: deliver it.
        case new
        /// It is new, and its id was that of a message that the server has forgotten: deliver it.
        case replacing
        /// It was delivered; PUBREC goes out again.
        case repeated
        /// It was delivered and waits for the caller's acknowledgement: PUBREC follows that one.
        case beingProcessed
    }

    /// QoS 2 ids whose PUBREL has not come.
    private var held = PacketIDSet()
    /// What their messages looked like.
    private var fingerprints = MessageFingerprints()
    /// Those of ``held`` that count against our receive maximum: their PUBLISH came on this connection.
    private var counted = PacketIDSet()
    /// Ids whose PUBREL came, or whose message was refused, until the caller has stored that: before, no connection gets
    /// PUBCOMP, with which the server may use the id for a new message. How often, for an id that was used again in between.
    private var releasing: [PacketID: Int] = [:]
    /// Those of ``releasing`` whose PUBREL came on this connection, so that PUBCOMP is due.
    private var completing: Set<PacketID> = []
    /// Answers due on this connection, in the order of their messages.
    private var pending: [Pending] = []
    /// How many of ``pending`` are gone from its front; they are removed together, now and then.
    private var pendingStart = 0
    /// Where in ``pending`` a serial stands, counted from the first ever.
    private var positions: [UInt64: Int] = [:]
    private var nextSerial: UInt64 = 0
    /// QoS 2 messages that the caller has and has not acknowledged, whatever became of their connection; with the
    /// answer if it was given while there was no connection.
    private var processing: [PacketID: (serial: UInt64, answer: PacketReasonCode?)] = [:]
    /// Acknowledged QoS 2 messages that came again, and whose answer waits in ``pending``.
    private var repeating: Set<PacketID> = []
    /// QoS 1 messages of this connection that are not acknowledged.
    private var unacknowledgedQoS1 = 0

    /// How many messages count against our receive maximum.
    var outstanding: Int { unacknowledgedQoS1 + counted.count }

    /// Whether answers are due that the caller has not given.
    var hasPending: Bool { pendingStart < pending.count }

    /// Whether a QoS 2 message with this id came on this connection and is not complete.
    func isCounted(_ id: PacketID) -> Bool { counted.contains(id) }

    /// A QoS 2 PUBLISH came.
    ///
    /// A held id that comes on a later connection without the mark of a repetition, which it would have to have
    /// ([MQTT-3.3.1-1]), or with another message, is a new message: the server has lost the session, and its CONNACK that
    /// said so was lost too.
    mutating func receivedQoS2(_ id: PacketID, isDuplicate: Bool, fingerprint: UInt32) -> Arrival {
        let isFirstHere = counted.insert(id)
        if held.insert(id) {
            fingerprints.note(fingerprint, of: id, held: held)
            return .new
        }
        if isFirstHere, !isDuplicate || fingerprints.isOther(fingerprint, than: id) {
            fingerprints.note(fingerprint, of: id, held: held)
            processing[id] = nil
            return .replacing
        }
        return processing[id] == nil ? .repeated : .beingProcessed
    }

    /// PUBREL came: the id is free. Says whether it was held.
    mutating func receivedPubRel(_ id: PacketID) -> Bool {
        counted.remove(id)
        if !processing.isEmpty { processing[id] = nil }  // An empty dictionary hashes its keys as well.
        return held.remove(id)
    }

    /// PUBREL came, perhaps again: says whether PUBCOMP for this id waits until the caller has stored that.
    mutating func isReleasing(_ id: PacketID) -> Bool {
        guard releasing[id] != nil, !held.contains(id) else { return false }
        completing.insert(id)
        return true
    }

    /// Notes that the caller has to store that this id is free, and whether PUBCOMP waits for that.
    mutating func beginRelease(_ id: PacketID, isPubCompDue: Bool) {
        releasing[id, default: 0] &+= 1
        if isPubCompDue { completing.insert(id) }
    }

    /// The caller has stored it: says whether PUBCOMP for this id is due on this connection.
    mutating func endRelease(_ id: PacketID) -> Bool {
        guard let count = releasing[id] else { return false }
        guard count == 1 else {
            releasing[id] = count &- 1
            return false  // The last has to be stored.
        }
        releasing[id] = nil
        return completing.remove(id) != nil
    }

    /// PUBREC with a failure code is written, which ends the exchange: the id is free ([MQTT-4.3.3-9]). Says whether it was
    /// held.
    mutating func refused(_ id: PacketID) -> Bool {
        counted.remove(id)
        return held.remove(id)
    }

    /// Takes over the ids that an earlier process held.
    mutating func restore(_ ids: some Sequence<PacketID>) { for id in ids { _ = held.insert(id) } }

    /// Makes the handle of a new message that the caller will acknowledge.
    mutating func hand(_ id: PacketID, _ qos: PacketQoS) -> IncomingMessage.Handle {
        let serial = nextSerial
        nextSerial &+= 1
        if qos == .exactlyOnce { processing[id] = (serial, nil) } else { unacknowledgedQoS1 += 1 }
        append(Pending(packetID: id, qos: qos, serial: serial))
        return IncomingMessage.Handle(packetID: id, qos: qos, serial: serial)
    }

    /// The server sent a QoS 2 message again that the caller still has: its answer is due on this connection too.
    mutating func waitAgain(for id: PacketID) {
        guard let (serial, answer) = processing[id], positions[serial] == nil else { return }
        append(Pending(packetID: id, qos: .exactlyOnce, serial: serial, answer: answer))
    }

    /// The server sent a QoS 2 message again that was acknowledged: PUBREC is due again, behind the answers that are due,
    /// once for all that come until then.
    mutating func answerAgain(_ id: PacketID) {
        guard repeating.insert(id).inserted else { return }
        append(Pending(packetID: id, qos: .exactlyOnce, serial: nextSerial, answer: .success))
        nextSerial &+= 1
    }

    private mutating func append(_ entry: Pending) {
        positions[entry.serial] = pending.count
        pending.append(entry)
    }

    /// Notes the caller's answer, and says whether the handle means anything still.
    mutating func answer(_ handle: IncomingMessage.Handle, with code: PacketReasonCode) -> Bool {
        var isKnown = false
        if handle.qos == .exactlyOnce, let entry = processing[handle.packetID], entry.serial == handle.serial {
            processing[handle.packetID] = (entry.serial, code)
            isKnown = true
        }
        if let position = positions[handle.serial], pending[position].answer == nil {
            pending[position].answer = code
            isKnown = true
        }
        return isKnown
    }

    /// Whether an answer would mean anything.
    func awaitsAnswer(_ handle: IncomingMessage.Handle) -> Bool {
        if handle.qos == .exactlyOnce, let entry = processing[handle.packetID], entry.serial == handle.serial {
            return true
        }
        return positions[handle.serial] != nil
    }

    /// Takes the next answer that may be written: the oldest, if it has been given.
    mutating func nextAnswer() -> (PacketID, PacketQoS, PacketReasonCode)? {
        guard pendingStart < pending.count, let code = pending[pendingStart].answer else { return nil }
        let entry = pending[pendingStart]
        positions[entry.serial] = nil
        pendingStart += 1
        if pendingStart == pending.count {
            pending.removeAll(keepingCapacity: true)
            pendingStart = 0
        } else if pendingStart >= 1_024, pendingStart * 2 >= pending.count {
            pending.removeFirst(pendingStart)
            for (position, entry) in pending.enumerated() { positions[entry.serial] = position }
            pendingStart = 0
        }
        switch entry.qos {
        case .exactlyOnce:
            if processing[entry.packetID]?.serial == entry.serial {
                processing[entry.packetID] = nil
            } else {
                repeating.remove(entry.packetID)
            }
        case .atLeastOnce, .atMostOnce: unacknowledgedQoS1 -= 1
        }
        return (entry.packetID, entry.qos, code)
    }

    /// The connection is gone: what was to be answered on it will come again.
    mutating func connectionLost() {
        pending.removeAll()
        pendingStart = 0
        positions.removeAll()
        repeating.removeAll()
        unacknowledgedQoS1 = 0
        counted.removeAll()
        completing.removeAll()
    }

    /// The server knows nothing of these exchanges any more: every id means a new message.
    mutating func sessionLost() {
        connectionLost()
        held.removeAll()
        releasing.removeAll()
        processing.removeAll()
        fingerprints = MessageFingerprints()
    }
}
