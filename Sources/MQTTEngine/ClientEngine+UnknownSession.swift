import MQTTCodec

/// Handles QoS 2 in a session that an earlier process started; see ``UnknownSession``.
extension ClientEngine {
    /// Records that the server kept the session. If this engine did not start the session, PUBREL must free each packet
    /// id before QoS 2 uses the id.
    mutating func sessionKept() {
        if !isSessionKnown, unknownSession == nil { unknownSession = UnknownSession(lastToBeCleared) }
    }

    private var lastToBeCleared: PacketID? {
        outgoing.idsInOrder().last { outgoing.kind(of: $0) == .untilCleared }
    }

    /// Records that the engine knows nothing about the next session.
    mutating func sessionChanges() { (isSessionKnown, unknownSession) = (false, nil) }

    /// Stops freeing packet ids with PUBREL, because the server started a new session, or because the server never
    /// answers these PUBREL packets.
    mutating func sessionBecameKnown() { (isSessionKnown, unknownSession) = (true, nil) }

    /// Returns true if a new QoS 2 message must wait until PUBREL has freed its packet id. In this case, marks the
    /// message as waiting.
    @inline(__always)
    mutating func mustClear(_ id: PacketID) -> Bool {
        guard unknownSession?.mustClear(id) ?? false else { return false }
        unknownSession?.waits(id)
        outgoing.waitUntilCleared(id)
        return true
    }

    /// Writes the PUBREL that frees the packet id of a waiting QoS 2 message. If the engine has stopped freeing ids,
    /// continues with PUBLISH.
    mutating func clear(
        _ id: PacketID, now: MonotonicInstant, into buffer: inout PacketBuffer, _ actions: inout ActionList
    ) {
        guard unknownSession != nil else { return publishCleared(id, now: now, into: &buffer, &actions) }
        unknownSession?.asked()
        link.encoder.encodeSuccess(.pubRel, id, into: &buffer)
        written(now: now)
        outgoing.markReleased(id, at: now)
        awaitAcknowledgement(now: now)
    }

    /// Continues with PUBLISH, because PUBCOMP confirmed that the packet id is free. PUBCOMP with the code "packet id
    /// not found" confirms this, too.
    ///
    /// The message is reported as sent only now, so that the caller stores a packet id that is free.
    mutating func receivedCleared(
        _ id: PacketID, now: MonotonicInstant, into buffer: inout PacketBuffer, _ actions: inout ActionList
    ) {
        guard outgoing.exchange(of: id)?.sentAt != nil else { return }  // No PUBREL was sent for this id yet.
        unknownSession?.answered(id)
        publishCleared(id, now: now, into: &buffer, &actions)
    }

    private mutating func publishCleared(
        _ id: PacketID, now: MonotonicInstant, into buffer: inout PacketBuffer, _ actions: inout ActionList
    ) {
        guard let exchange = outgoing.exchange(of: id), let message = exchange.message,
            let delivery = Delivery(qos: .exactlyOnce, packetID: id)
        else { return }
        var failure = refusal(of: memory.header(of: message), now: now)
        if failure == nil, !configuration.awaitsStorage {
            do throws(EncodeError) {
                try link.write(memory.view(message), delivery, isFirst: true, now: now, into: &buffer)
            } catch {
                failure = .notEncodable(error)
            }
        }
        if let failure {
            endExchange(id)
            if exchange.holdsQuota { link.returnQuota() }
            return actions.append(.failed(exchange.token, failure))
        }
        outgoing.wasCleared(id, isHeld: configuration.awaitsStorage)
        actions.append(ExchangeProgress.sent(exchange.token, id))
        if configuration.awaitsStorage { return }
        written(now: now)
        outgoing.markPublished(id, at: now)
        awaitAcknowledgement(now: now)
    }

    /// Records that the connection ended. If the server answered no PUBREL on several connections, stops freeing packet
    /// ids with PUBREL.
    mutating func unknownSessionLostConnection() {
        guard unknownSession != nil else { return }
        if unknownSession?.connectionLost(lastToBeCleared) == false { sessionBecameKnown() }
    }
}
