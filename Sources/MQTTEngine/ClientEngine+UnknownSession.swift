import MQTTCodec

/// QoS 2 in a session that an earlier process began; see ``UnknownSession``.
extension ClientEngine {
    /// The server has kept a session.
    mutating func sessionKept() {
        if !isSessionKnown, unknownSession == nil { unknownSession = UnknownSession(lastToBeCleared) }
    }

    private var lastToBeCleared: PacketID? {
        outgoing.idsInOrder().last { outgoing.kind(of: $0) == .untilCleared }
    }

    /// The next session is one of which nothing is known.
    mutating func sessionChanges() { (isSessionKnown, unknownSession) = (false, nil) }

    /// The server has begun a session with this connection, or is not asked any more.
    mutating func sessionBecameKnown() { (isSessionKnown, unknownSession) = (true, nil) }

    /// Says whether an exchange of QoS 2 that has just begun has to wait until its id is cleared.
    @inline(__always)
    mutating func mustClear(_ id: PacketID) -> Bool {
        guard unknownSession?.mustClear(id) ?? false else { return false }
        unknownSession?.waits(id)
        outgoing.waitUntilCleared(id)
        return true
    }

    /// Writes the first packet of an exchange that waits until its id is cleared: PUBREL, or PUBLISH when the server is not
    /// asked any more.
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

    /// PUBCOMP has come for an exchange that waits until its id is cleared, also with "not found". Only now its message is
    /// told as sent: what the caller stores by that is of an id that is free.
    mutating func receivedCleared(
        _ id: PacketID, now: MonotonicInstant, into buffer: inout PacketBuffer, _ actions: inout ActionList
    ) {
        guard outgoing.exchange(of: id)?.sentAt != nil else { return }  // Nothing was asked yet.
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

    /// The connection has ended.
    mutating func unknownSessionLostConnection() {
        guard unknownSession != nil else { return }
        if unknownSession?.connectionLost(lastToBeCleared) == false { sessionBecameKnown() }
    }
}
