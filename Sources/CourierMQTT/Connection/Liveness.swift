import CourierCore
import CourierTransport

/// Watches whether a connection still carries bytes in both directions.
///
/// It records received and sent bytes, requests a probe after half of the allowed silence, and reports a dead connection after
/// all of it. So a client that only sends QoS 0, or whose keep-alive is longer than
/// ``CourierCore/IdleActivityTimeoutPolicy/readTimeout``, stays connected. While a slow reader pauses reading, silence is not
/// counted.
struct Liveness: Sendable {
    typealias Instant = ContinuousClock.Instant

    enum Verdict: Equatable, Sendable {
        case alive
        /// Something has to be sent that the peer answers.
        case probe
        /// Nothing came although it had to, for this long.
        case dead(silentFor: Duration)
    }

    private let limits: Limits?
    private let probeTimeout: Duration

    /// When something was last received.
    private(set) var lastInbound: Instant?
    /// When something was last sent.
    private(set) var lastOutbound: Instant?

    let start: Instant
    /// The first send after the last receipt.
    private(set) var unansweredSince: Instant?
    /// When the last probe since then was asked for.
    private var probedAt: Instant?
    /// By when a probe that was asked for from outside has to be answered.
    @BoxedOptional private var answerDue: Instant?
    /// Whether reading from the socket is paused.
    private(set) var isReadingPaused = false
    /// When reading went on for the last time.
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

    /// Says whether ``deadline`` has come nearer by it.
    mutating func sent(now: Instant) -> Bool {
        lastOutbound = now
        guard unansweredSince == nil else { return false }
        unansweredSince = now
        return limits != nil && !isReadingPaused
    }

    /// A probe is about to be sent for a reason of the caller's own, and has to be answered soon.
    mutating func probed(now: Instant) {
        if answerDue == nil { answerDue = now.advanced(by: probeTimeout) }
    }

    /// Reading was paused or resumed. Timeouts begin anew after a pause, because an answer may wait to be read.
    mutating func setReadingPaused(_ isPaused: Bool, now: Instant) {
        guard isPaused != isReadingPaused else { return }
        isReadingPaused = isPaused
        guard !isPaused else { return }
        resumedAt = now
        if unansweredSince != nil { unansweredSince = now }
        probedAt = nil
        if answerDue != nil { answerDue = now.advanced(by: probeTimeout) }
    }

    /// When ``look(now:)`` has something to say at the earliest.
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

    /// A probe is always given its chance: after a long stop of the process, silence alone proves nothing.
    private var deathDue: Instant? {
        guard let limits else { return nil }
        let byReading = silentSince.advanced(by: limits.read)
        let due = min(byReading, unansweredSince?.advanced(by: limits.inactivity) ?? byReading)
        guard let probedAt else { return due }
        return max(due, probedAt.advanced(by: min(probeTimeout, limits.inactivity / 2)))
    }
}
