public import MQTTCodec

/// Keep-alive and the deadlines.
extension ClientEngine {
    /// When ``timerFired(now:into:_:)`` is to be called, unless it changes before; `nil` while nothing is due.
    public var deadline: Instant? { due?.instant }

    private var due: MonotonicInstant? {
        switch phase {
        case .idle, .closing: nil
        case .connecting(let deadline): deadline
        case .connected:
            Self.earlier(pingDue, Self.earlier(pongDue, link.isReadingPaused ? nil : link.acknowledgementCheck))
        }
    }

    /// A ``deadline`` has passed; a call that is early or late does no harm.
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
            if isAcknowledgementOverdue(now: now) {
                return fail(.acknowledgementTimeout, .unspecifiedError, into: &buffer, &actions)
            }
            if let pingDue, now >= pingDue { ping(now: now, into: &buffer, &actions) }
        }
    }

    /// Asks the server for a sign of life now, whatever was sent last; ignored without a connection.
    public mutating func ping(now: Instant, into buffer: inout PacketBuffer, _ actions: inout ActionList) {
        ping(now: MonotonicInstant(now), into: &buffer, &actions)
    }

    private mutating func ping(now: MonotonicInstant, into buffer: inout PacketBuffer, _ actions: inout ActionList) {
        guard isConnected, (try? link.encoder.encode(.pingReq, into: &buffer)) != nil else { return }
        written(now: now)
        if link.pingSentAt == nil { link.pingSentAt = now }
        actions.append(.pingSent)
    }

    /// Says whether bytes are read: while they are not, the server's answers cannot come, and their absence means nothing.
    public mutating func setReadingPaused(_ isPaused: Bool, now: Instant) {
        let now = MonotonicInstant(now)
        guard isConnected, link.isReadingPaused != isPaused else { return }
        link.isReadingPaused = isPaused
        guard !isPaused else { return }
        // What is due gets its whole time again: it may have come long ago, and waits to be read.
        if link.pingSentAt != nil { link.pingSentAt = now }
        if link.acknowledgementCheck != nil {
            outgoing.restartClocks(at: now)
            link.acknowledgementCheck = nil
            awaitAcknowledgement(now: now)
        }
    }

    mutating func receivedPingResp(now: MonotonicInstant, _ actions: inout ActionList) {
        guard let sentAt = link.pingSentAt else { return }  // An answer to nothing is odd and harmless.
        link.pingSentAt = nil
        actions.append(.pongReceived(roundTrip: sentAt.duration(to: now)))
    }

    /// Notes that a packet was written, from which the server's patience counts ([MQTT-3.1.2-20]).
    @inline(__always)
    mutating func written(now: MonotonicInstant) { link.lastSent = now }

    /// Watches for the answer to a packet that was just written.
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

    /// While nothing is read, nothing can be answered.
    private var pongDue: MonotonicInstant? {
        link.isReadingPaused ? nil : link.pingSentAt?.advanced(by: configuration.pingTimeout)
    }

    /// Looks at the oldest answer that is due, but only when one can be: between checks, answers come and go unwatched.
    private mutating func isAcknowledgementOverdue(now: MonotonicInstant) -> Bool {
        guard !link.isReadingPaused, let check = link.acknowledgementCheck, now >= check,
            let timeout = configuration.acknowledgementTimeout
        else { return false }
        guard let oldest = outgoing.oldestSentAt() else {
            link.acknowledgementCheck = nil
            return false
        }
        let due = oldest.advanced(by: timeout)
        link.acknowledgementCheck = due
        return now >= due
    }
}
