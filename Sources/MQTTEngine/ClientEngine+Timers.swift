public import MQTTCodec

/// Runs the keep-alive and the timeouts.
extension ClientEngine {
    /// The time to call ``timerFired(now:into:_:)``; `nil` if no timer runs. Check this value after each call of the
    /// engine, because any call may change it.
    public var deadline: Instant? { due?.instant }

    private var due: MonotonicInstant? {
        switch phase {
        case .idle, .closing: nil
        case .connecting(let deadline): deadline
        case .connected:
            Self.earlier(pingDue, Self.earlier(pongDue, link.isReadingPaused ? nil : link.acknowledgementCheck))
        }
    }

    /// Sends PINGREQ or reports a timeout if ``deadline`` has passed. If a call comes before ``deadline``, it does
    /// nothing. A late call only delays PINGREQ or the timeout.
    public mutating func timerFired(
        now: Instant, into buffer: inout PacketBuffer, _ actions: inout ActionList
    ) {
        let now = MonotonicInstant(now)
        switch phase {
        case .idle, .closing: return
        case .connecting(let deadline):
            if now >= deadline { close(.connectTimeout, &actions) }
        case .connected:
            if let pongDue, now >= pongDue {
                return fail(.pingTimeout, .unspecifiedError, into: &buffer, &actions)
            }
            if let packet = overduePacket(now: now) {
                return fail(.acknowledgementTimeout(packet), .unspecifiedError, into: &buffer, &actions)
            }
            if let pingDue, now >= pingDue { ping(now: now, into: &buffer, &actions) }
        }
    }

    /// Sends PINGREQ now, even if a packet was written recently. Does nothing without a connection.
    public mutating func ping(now: Instant, into buffer: inout PacketBuffer, _ actions: inout ActionList) {
        ping(now: MonotonicInstant(now), into: &buffer, &actions)
    }

    private mutating func ping(now: MonotonicInstant, into buffer: inout PacketBuffer, _ actions: inout ActionList) {
        guard isConnected, (try? link.encoder.encode(.pingReq, into: &buffer)) != nil else { return }
        written(now: now)
        if link.pingSentAt == nil { link.pingSentAt = now }
        actions.append(.pingSent)
    }

    /// Stops the timeouts for answers while the caller reads no bytes from the transport, because no answer can arrive.
    public mutating func setReadingPaused(_ isPaused: Bool, now: Instant) {
        let now = MonotonicInstant(now)
        guard isConnected, link.isReadingPaused != isPaused else { return }
        link.isReadingPaused = isPaused
        guard !isPaused else { return }
        // Restart the timeouts of awaited answers, because an answer may have arrived during the pause without being
        // read.
        if link.pingSentAt != nil { link.pingSentAt = now }
        if link.acknowledgementCheck != nil {
            outgoing.restartClocks(at: now)
            link.acknowledgementCheck = nil
            awaitAcknowledgement(now: now)
        }
    }

    /// Restarts the timeouts for answers, because the server is still sending the bytes of a packet, and answers can
    /// arrive only after this packet.
    mutating func delayAnswerTimeouts(now: MonotonicInstant) {
        if link.pingSentAt != nil { link.pingSentAt = now }
        if link.acknowledgementCheck != nil {
            link.acknowledgementCheck = configuration.acknowledgementTimeout.map(now.advanced(by:))
        }
    }

    mutating func receivedPingResp(now: MonotonicInstant, _ actions: inout ActionList) {
        guard let sentAt = link.pingSentAt else { return }  // Ignore a PINGRESP without a PINGREQ.
        link.pingSentAt = nil
        actions.append(.pongReceived(roundTrip: sentAt.duration(to: now)))
    }

    /// Records the time when a packet was written. The keep-alive interval starts at the last packet ([MQTT-3.1.2-20]).
    @inline(__always)
    mutating func written(now: MonotonicInstant) { link.lastSent = now }

    /// Starts the acknowledgement timeout for a packet that was just written. Does nothing if the timeout already runs.
    @inline(__always)
    mutating func awaitAcknowledgement(now: MonotonicInstant) {
        guard link.acknowledgementCheck == nil, let timeout = configuration.acknowledgementTimeout else { return }
        link.acknowledgementCheck = now.advanced(by: timeout)
    }

    private static func earlier(_ one: MonotonicInstant?, _ other: MonotonicInstant?) -> MonotonicInstant? {
        guard let one, let other else { return one ?? other }
        return min(one, other)
    }

    private var pingDue: MonotonicInstant? {
        guard let keepAlive = link.keepAlive, let lastSent = link.lastSent else { return nil }
        return lastSent.advanced(by: keepAlive)
    }

    /// The time when PINGRESP is overdue; `nil` if none is expected, or while reading is paused.
    private var pongDue: MonotonicInstant? {
        link.isReadingPaused ? nil : link.pingSentAt?.advanced(by: configuration.pingTimeout)
    }

    /// Returns the packet whose answer is awaited longest, if the answer is overdue; otherwise `nil`. Searches only
    /// when a check is due, so that the arrival of an answer need not change a timer.
    private mutating func overduePacket(now: MonotonicInstant) -> OverduePacket? {
        guard !link.isReadingPaused, let check = link.acknowledgementCheck, now >= check,
            let timeout = configuration.acknowledgementTimeout
        else { return nil }
        guard let oldest = outgoing.oldestUnanswered() else {
            link.acknowledgementCheck = nil
            return nil
        }
        let due = oldest.sentAt.advanced(by: timeout)
        link.acknowledgementCheck = due
        return now >= due ? OverduePacket(oldest.type, oldest.id, timeout: timeout) : nil
    }
}
