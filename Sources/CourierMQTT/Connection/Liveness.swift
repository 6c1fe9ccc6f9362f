import CourierCore
import CourierTransport

/// Detects whether a connection still carries bytes in both directions.
///
/// `Liveness` records when bytes were received and sent. After half of the allowed silence, `Liveness` requests a probe
/// (PINGREQ). After the whole allowed silence, it reports that the connection is dead.
///
/// The broker responds to the probe. So a client stays connected even if it only sends QoS 0 messages, or if its
/// keep-alive is longer than ``CourierCore/IdleActivityTimeoutPolicy/readTimeout``. While a slow reader pauses reading,
/// silence is not counted.
struct Liveness: Sendable {
    typealias Instant = ContinuousClock.Instant

    /// The result of a check.
    enum Verdict: Equatable, Sendable {
        case alive
        /// The caller must send PINGREQ, and the peer must respond to it.
        case probe
        /// The connection is dead: the peer sent nothing for this time, although a response was due.
        case dead(silentFor: Duration)
    }

    private let limits: Limits?
    private let probeTimeout: Duration

    /// The time when bytes were last received.
    private(set) var lastInbound: Instant?
    /// The time when bytes were last sent.
    private(set) var lastOutbound: Instant?

    let start: Instant
    /// The time when the client first sent bytes after it last received bytes; `nil` if no bytes were sent since then.
    private(set) var unansweredSince: Instant?
    /// The time when a probe was requested; `nil` if no probe was requested since bytes were last received.
    private var probedAt: Instant?
    /// The latest time for the response to a PINGREQ that the caller sent for a reason other than silence, such as a
    /// network change. `nil` if the caller awaits no such response.
    @BoxedOptional private var answerDue: Instant?
    /// True while reading from the socket is paused.
    private(set) var isReadingPaused = false
    /// The time when reading was last resumed; `nil` if reading was never paused.
    @BoxedOptional private var resumedAt: Instant?

    /// The times of the policy.
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

    /// Records that bytes were sent. Returns true if ``deadline`` may have become earlier.
    mutating func sent(now: Instant) -> Bool {
        lastOutbound = now
        guard unansweredSince == nil else { return false }
        unansweredSince = now
        return limits != nil && !isReadingPaused
    }

    /// Records that the caller sends PINGREQ for a reason other than silence, such as a network change. The peer must
    /// respond within `probeTimeout`.
    mutating func probed(now: Instant) {
        if answerDue == nil { answerDue = now.advanced(by: probeTimeout) }
    }

    /// Records that reading was paused or resumed. After a pause, all timeouts start again, because the peer's response
    /// may have arrived unread during the pause.
    mutating func setReadingPaused(_ isPaused: Bool, now: Instant) {
        guard isPaused != isReadingPaused else { return }
        isReadingPaused = isPaused
        guard !isPaused else { return }
        resumedAt = now
        if unansweredSince != nil { unansweredSince = now }
        probedAt = nil
        if answerDue != nil { answerDue = now.advanced(by: probeTimeout) }
    }

    /// The earliest time at which ``look(now:)`` may return a verdict other than `alive`; `nil` if it always returns
    /// `alive`.
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

    /// The time when the connection counts as dead; `nil` without limits.
    ///
    /// After a probe, the peer always gets time to respond, even if the silence was already too long, because the
    /// process may have been stopped during the silence.
    private var deathDue: Instant? {
        guard let limits else { return nil }
        let byReading = silentSince.advanced(by: limits.read)
        let due = min(byReading, unansweredSince?.advanced(by: limits.inactivity) ?? byReading)
        guard let probedAt else { return due }
        return max(due, probedAt.advanced(by: min(probeTimeout, limits.inactivity / 2)))
    }
}
