import CourierCore
import CourierTransport

/// Watches whether a connection still carries bytes in both directions.
///
/// It records received and sent bytes. After half of the allowed silence, it requests a probe (PINGREQ). After the
/// whole allowed silence, it reports a dead connection. Because the broker responds to the probe, a client that only
/// sends QoS 0 messages stays connected. A client with a longer keep-alive than
/// ``CourierCore/IdleActivityTimeoutPolicy/readTimeout`` also stays connected. While a slow reader pauses reading,
/// silence is not counted.
struct Liveness: Sendable {
    typealias Instant = ContinuousClock.Instant

    enum Verdict: Equatable, Sendable {
        case alive
        /// PINGREQ must be sent now. The peer must respond to it.
        case probe
        /// The peer sent nothing for this time, although a response was due.
        case dead(silentFor: Duration)
    }

    private let limits: Limits?
    private let probeTimeout: Duration

    /// When bytes were last received.
    private(set) var lastInbound: Instant?
    /// When bytes were last sent.
    private(set) var lastOutbound: Instant?

    let start: Instant
    /// The time of the first sent bytes since bytes were last received; `nil` if no bytes were sent since then.
    private(set) var unansweredSince: Instant?
    /// When a probe was requested; `nil` if no probe was requested since bytes were last received.
    private var probedAt: Instant?
    /// The latest time for the response to a PINGREQ that the caller sent for its own reason; `nil` if no such response
    /// is awaited.
    @BoxedOptional private var answerDue: Instant?
    /// Whether reading from the socket is paused.
    private(set) var isReadingPaused = false
    /// When reading was last resumed; `nil` if it was never paused.
    @BoxedOptional private var resumedAt: Instant?

    private struct Limits: Sendable {
        let inactivity: Duration
        let read: Duration
    }

    init(_ policy: IdleActivityTimeoutPolicy, probeTimeout: Duration, now: Instant) {
        limits =
            policy.isEnabled
            ? Limits(
                inactivity: .bounded(seconds: policy.inactivityTimeout), read: .bounded(seconds: policy.readTimeout))
            : nil
        self.probeTimeout = probeTimeout
        start = now
    }

    mutating func received(now: Instant) {
        lastInbound = now
        unansweredSince = nil
        probedAt = nil
        answerDue = nil
    }

    /// Records that bytes were sent. Returns whether ``deadline`` may have become earlier.
    mutating func sent(now: Instant) -> Bool {
        lastOutbound = now
        guard unansweredSince == nil else { return false }
        unansweredSince = now
        return limits != nil && !isReadingPaused
    }

    /// Records that the caller sends PINGREQ for its own reason, such as a network change. The peer must respond within
    /// `probeTimeout`.
    mutating func probed(now: Instant) {
        if answerDue == nil { answerDue = now.advanced(by: probeTimeout) }
    }

    /// Records that reading was paused or resumed. Timeouts start again after a pause, because the peer's response may
    /// have arrived during the pause, without being read.
    mutating func setReadingPaused(_ isPaused: Bool, now: Instant) {
        guard isPaused != isReadingPaused else { return }
        isReadingPaused = isPaused
        guard !isPaused else { return }
        resumedAt = now
        if unansweredSince != nil { unansweredSince = now }
        probedAt = nil
        if answerDue != nil { answerDue = now.advanced(by: probeTimeout) }
    }

    /// The earliest time at which ``look(now:)`` may return a verdict other than `alive`; `nil` if there is no such
    /// time.
    var deadline: Instant? {
        guard !isReadingPaused else { return nil }
        let next = probedAt == nil ? probeDue : deathDue
        guard let answerDue, let next else { return answerDue ?? next }
        return min(answerDue, next)
    }

    mutating func look(now: Instant) -> Verdict {
        guard !isReadingPaused else { return .alive }
        if let answerDue, now >= answerDue { return .dead(silentFor: probeTimeout) }
        if let deathDue, now >= deathDue, probedAt != nil { return .dead(silentFor: silentSince.duration(to: now)) }
        if probedAt == nil, let probeDue, now >= probeDue {
            probedAt = now
            return .probe
        }
        return .alive
    }

    private var silentSince: Instant {
        let heardAt = lastInbound ?? start
        return resumedAt.map { max(heardAt, $0) } ?? heardAt
    }

    private var probeDue: Instant? {
        guard let limits else { return nil }
        let byReading = silentSince.advanced(by: limits.read / 2)
        return min(byReading, unansweredSince?.advanced(by: limits.inactivity / 2) ?? byReading)
    }

    /// When the connection counts as dead; `nil` without limits. After a probe, the peer always gets time to respond:
    /// if the process was stopped for long, the silence before the probe proves nothing.
    private var deathDue: Instant? {
        guard let limits else { return nil }
        let byReading = silentSince.advanced(by: limits.read)
        let due = min(byReading, unansweredSince?.advanced(by: limits.inactivity) ?? byReading)
        guard let probedAt else { return due }
        return max(due, probedAt.advanced(by: min(probeTimeout, limits.inactivity / 2)))
    }
}
