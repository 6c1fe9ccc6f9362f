/// When to look at the networks, and what of it is news.
///
/// Perform what is returned. Changes that come together are answered by one look, `settleTime` after the first of
/// them: more changes do not put it off, and a link that flaps causes one look and one report per `settleTime`.
///
/// ```
/// looking ──lookEnded──▶ idle ──changed──▶ settling ──timerFired──▶ looking
///    └─lookEnded, but something changed meanwhile──▶ settling
/// ```
struct NetworkWatchState: Sendable {
    typealias Instant = ContinuousClock.Instant

    private enum Phase: Sendable {
        case looking(isOutdated: Bool)
        case idle
        case settling
    }

    /// What a look has found.
    enum Finding: Hashable, Sendable {
        case seen(isAvailable: Bool)
        /// The kernel said that things changed while it was telling them, or had no descriptor or memory left to tell them.
        case inconsistent
        /// The machine does not tell; then nothing speaks against connecting.
        case unknown
    }

    struct Consequence: Hashable, Sendable {
        /// What to report, if it is news.
        var isAvailable: Bool?
        /// When to call ``NetworkWatchState/timerFired()``.
        var timer: Instant?
    }

    private var phase = Phase.looking(isOutdated: false)
    private var reported: Bool?
    private let settleTime: Duration

    /// Begins with a look, which the caller takes at once.
    init(settleTime: Duration) { self.settleTime = settleTime }

    /// Something changed; when to call ``timerFired()``, or `nil` if a look is coming anyway.
    mutating func changed(now: Instant) -> Instant? {
        switch phase {
        case .idle:
            phase = .settling
            return now.advanced(by: settleTime)
        case .looking:
            phase = .looking(isOutdated: true)
            return nil
        case .settling: return nil
        }
    }

    /// Whether to take a look now.
    mutating func timerFired() -> Bool {
        switch phase {
        case .settling:
            phase = .looking(isOutdated: false)
            return true
        case .idle, .looking: return false  // A stale timer is harmless.
        }
    }

    /// The look is over.
    mutating func lookEnded(_ finding: Finding, now: Instant) -> Consequence {
        guard case .looking(var isOutdated) = phase else { return Consequence() }
        var consequence = Consequence()
        switch finding {
        case .seen(let isAvailable): consequence.isAvailable = news(isAvailable)
        case .unknown: consequence.isAvailable = news(true)
        case .inconsistent: isOutdated = true
        }
        phase = isOutdated ? .settling : .idle
        if isOutdated { consequence.timer = now.advanced(by: settleTime) }
        return consequence
    }

    private mutating func news(_ isAvailable: Bool) -> Bool? {
        if reported == isAvailable { return nil }
        reported = isAvailable
        return isAvailable
    }
}
