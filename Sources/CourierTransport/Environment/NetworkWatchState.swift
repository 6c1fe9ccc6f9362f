/// Decides when to check the networks, and which results to report.
///
/// The caller performs the returned steps. One check follows a group of changes, `settleTime` after the first change.
/// Further changes do not delay this check. So an unstable link causes at most one check and one report per
/// `settleTime`.
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

    /// The result of one check of the networks.
    enum Finding: Hashable, Sendable {
        case seen(isAvailable: Bool)
        /// The networks changed during the check, or the kernel had no descriptor or memory left for an answer.
        case inconsistent
        /// The kernel gives no information about the networks. Then a network counts as available.
        case unknown
    }

    struct Consequence: Hashable, Sendable {
        /// The availability to report to the caller; `nil` if it has not changed.
        var isAvailable: Bool?
        /// The time to call ``NetworkWatchState/timerFired()``; `nil` if no call is needed.
        var timer: Instant?
    }

    private var phase = Phase.looking(isOutdated: false)
    private var reported: Bool?
    private let settleTime: Duration

    /// Creates the state. The caller must begin the first check at once.
    init(settleTime: Duration) { self.settleTime = settleTime }

    /// Records a change. Returns the time to call ``timerFired()``, or `nil` if a check already runs or is planned.
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

    /// Returns `true` if the caller must check the networks now.
    mutating func timerFired() -> Bool {
        switch phase {
        case .settling:
            phase = .looking(isOutdated: false)
            return true
        case .idle, .looking: return false  // A stale timer is harmless.
        }
    }

    /// Processes the result of a check that has ended.
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
