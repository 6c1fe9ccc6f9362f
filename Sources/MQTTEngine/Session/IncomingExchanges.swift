import MQTTCodec

/// The deliveries that the server started and the client has not finished.
///
/// The packet id of a QoS 2 message is held (remembered) from the first PUBLISH to PUBREL. So the message is delivered
/// once, even if its PUBLISH arrives several times ([MQTT-4.3.3-10]). If the caller acknowledges messages, the answers
/// keep the order of the messages ([MQTT-4.6.0-2], [MQTT-4.6.0-3]): an answer is written only after all earlier
/// answers.
struct IncomingExchanges {
    /// An acknowledgement that waits for the caller, or for an earlier acknowledgement.
    private struct Pending {
        let packetID: PacketID
        let qos: PacketQoS
        let serial: UInt64
        var answer: PacketReasonCode?
    }

    /// The ways to process a QoS 2 PUBLISH.
    enum Arrival: Equatable {
        /// The message is new and must be delivered.
        case new
        /// The message is new and must be delivered. The server has forgotten the earlier message with the same id.
        case replacing
        /// The message was delivered before. PUBREC must be sent again.
        case repeated
        /// The message was delivered, but the caller has not acknowledged it. PUBREC follows the acknowledgement.
        case beingProcessed
    }

    /// The ids of QoS 2 messages whose PUBREL has not arrived.
    private var held = IncomingPacketIDs()
    /// The fingerprints (hash values of topic and payload) of the messages whose ids are in ``held``.
    private var fingerprints = MessageFingerprints()
    /// The ids in ``held`` whose PUBLISH arrived on this connection. The messages with these ids count toward the
    /// client's receive maximum.
    private var counted = IncomingPacketIDs()
    /// The packet ids of messages whose delivery ended by PUBREL or a refusal, while the caller has not stored this end
    /// yet.
    ///
    /// PUBCOMP is sent only after the end is stored, because after PUBCOMP the server may use the id for a new message.
    /// The value is the number of ends that are not stored. The value exceeds 1 if the server used the id again before
    /// the end was stored.
    private var releasing: [PacketID: Int] = [:]
    /// The ids in ``releasing`` whose PUBREL arrived on this connection. When the end is stored, PUBCOMP must be sent
    /// on this connection.
    private var completing: Set<PacketID> = []
    /// Acknowledgements that must be written on this connection, in the order of their messages.
    private var pending: [Pending] = []
    /// The number of elements at the front of ``pending`` that were already written. All of them are removed together
    /// later.
    private var pendingStart = 0
    /// The index in ``pending`` of each acknowledgement, by the serial number of its handle.
    private var positions: [UInt64: Int] = [:]
    private var nextSerial: UInt64 = 0
    /// The QoS 2 messages that the caller received and whose acknowledgement was not written yet. These messages may be
    /// from an earlier connection. `answer` is the code of the caller's acknowledgement; `nil` if the caller has not
    /// acknowledged the message.
    private var processing: [PacketID: (serial: UInt64, answer: PacketReasonCode?)] = [:]
    /// The ids of acknowledged QoS 2 messages that arrived again, and whose repeated PUBREC waits in ``pending``.
    private var repeating: Set<PacketID> = []
    /// The number of QoS 1 messages of this connection that are not acknowledged.
    private var unacknowledgedQoS1 = 0

    /// The number of messages that count toward the client's receive maximum.
    var outstanding: Int { unacknowledgedQoS1 + counted.count }

    /// True while at least one acknowledgement must still be written.
    var hasPending: Bool { pendingStart < pending.count }

    /// Returns true if a QoS 2 message with this id arrived on this connection and is not complete.
    func isCounted(_ id: PacketID) -> Bool { counted.contains(id) }

    /// Records a QoS 2 PUBLISH, and returns how to process it.
    ///
    /// On a later connection, a repetition must have the DUP flag ([MQTT-3.3.1-1]) and the same content. So if a
    /// PUBLISH with the id of an unfinished message has no DUP flag or has different content, it is a new message. In
    /// this case, the server lost the session, and the CONNACK that reported the loss never arrived.
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

    /// Records that PUBREL arrived, which frees the id. Returns true if a message with this id waited for PUBREL.
    mutating func receivedPubRel(_ id: PacketID) -> Bool {
        counted.remove(id)
        // Check first, to save time: a look-up in a dictionary computes the hash of the key, even if the dictionary is
        // empty.
        if !processing.isEmpty { processing[id] = nil }
        return held.remove(id)
    }

    /// Returns true if the delivery with this packet id ended before and the caller has not stored its end. PUBCOMP is
    /// sent after the end is stored.
    mutating func isReleasing(_ id: PacketID) -> Bool {
        guard releasing[id] != nil, !held.contains(id) else { return false }
        completing.insert(id)
        return true
    }

    /// Records that the caller must store the end of this delivery, and whether PUBCOMP must be sent after that.
    mutating func beginRelease(_ id: PacketID, isPubCompDue: Bool) {
        releasing[id, default: 0] &+= 1
        if isPubCompDue { completing.insert(id) }
    }

    /// Records that the caller stored the end of a delivery. Returns true if PUBCOMP for this id must now be sent.
    mutating func endRelease(_ id: PacketID) -> Bool {
        guard let count = releasing[id] else { return false }
        guard count == 1 else {
            releasing[id] = count &- 1
            return false  // The end of a later exchange with this id is not stored yet.
        }
        releasing[id] = nil
        return completing.remove(id) != nil
    }

    /// Ends the delivery after PUBREC with a failure code, which frees the packet id ([MQTT-4.3.3-9]). Returns true if
    /// a message with this id waited for PUBREL.
    mutating func refused(_ id: PacketID) -> Bool {
        counted.remove(id)
        return held.remove(id)
    }

    /// Restores the packet ids of the QoS 2 messages that an earlier process received and did not complete.
    mutating func restore(_ ids: some Sequence<PacketID>) { for id in ids { _ = held.insert(id) } }

    /// Returns a new handle for a message that the caller will acknowledge.
    mutating func hand(_ id: PacketID, _ qos: PacketQoS) -> IncomingMessage.Handle {
        let serial = nextSerial
        nextSerial &+= 1
        if qos == .exactlyOnce { processing[id] = (serial, nil) } else { unacknowledgedQoS1 += 1 }
        append(Pending(packetID: id, qos: qos, serial: serial))
        return IncomingMessage.Handle(packetID: id, qos: qos, serial: serial)
    }

    /// Queues an acknowledgement on this connection for a QoS 2 message that arrived again and that the caller has not
    /// acknowledged yet.
    mutating func waitAgain(for id: PacketID) {
        guard let (serial, answer) = processing[id], positions[serial] == nil else { return }
        append(Pending(packetID: id, qos: .exactlyOnce, serial: serial, answer: answer))
    }

    /// Queues PUBREC for an acknowledged QoS 2 message that arrived again. This PUBREC follows the acknowledgements
    /// that already wait. If the message arrives once more before this PUBREC is written, no second PUBREC is queued.
    mutating func answerAgain(_ id: PacketID) {
        guard repeating.insert(id).inserted else { return }
        append(Pending(packetID: id, qos: .exactlyOnce, serial: nextSerial, answer: .success))
        nextSerial &+= 1
    }

    private mutating func append(_ entry: Pending) {
        positions[entry.serial] = pending.count
        pending.append(entry)
    }

    /// Records the caller's acknowledgement. Returns false if the handle is no longer valid.
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

    /// Returns true until the acknowledgement for this handle is written or the handle becomes invalid.
    func awaitsAnswer(_ handle: IncomingMessage.Handle) -> Bool {
        if handle.qos == .exactlyOnce, let entry = processing[handle.packetID], entry.serial == handle.serial {
            return true
        }
        return positions[handle.serial] != nil
    }

    /// Removes and returns the next acknowledgement to write, which belongs to the oldest message. Returns `nil` if the
    /// caller has not acknowledged this message yet.
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

    /// Forgets all acknowledgements that were not written, because the connection ended and the server will send their
    /// messages again.
    mutating func connectionLost() {
        pending.removeAll()
        pendingStart = 0
        positions.removeAll()
        repeating.removeAll()
        unacknowledgedQoS1 = 0
        counted.removeAll()
        completing.removeAll()
    }

    /// Forgets all deliveries, because the server lost the session. From now on, every id belongs to a new message.
    mutating func sessionLost() {
        connectionLost()
        held.removeAll()
        releasing.removeAll()
        processing.removeAll()
        fingerprints = MessageFingerprints()
    }
}
