import CourierCore
import Foundation

/// The limits of an adaptive keep-alive's intervals, and the rules that choose the next interval from the intervals
/// that worked or failed before.
struct KeepAliveBounds: Hashable, Sendable {
    /// The allowed intervals: 100 ms to 12 h. The longest interval is nine tenths of the keep-alive in CONNECT
    /// (``usablePart``). So for 12 h, which is 43,200 s, the keep-alive is 48,000 s. The protocol allows at most
    /// 65,535 s.
    static let intervals = Duration.milliseconds(100)...Duration.seconds(12 * 3_600)
    /// The longest interval is nine tenths of the keep-alive. The last tenth covers the travel time of a response.
    ///
    /// This reserve is needed, because client and broker measure an idle time from different moments. The client
    /// measures from the arrival of the broker's response. The broker measures from an earlier moment: the arrival of
    /// the packet that caused this response.
    private static let usablePart = (of: 10, parts: 9)

    private(set) var minimum: Duration
    private(set) var maximum: Duration
    let step: Duration
    let retryTime: Duration

    init(_ keepAlive: AdaptiveKeepAlive) {
        minimum = keepAlive.minimumInterval
        maximum = keepAlive.maximumInterval
        step = keepAlive.step
        retryTime = keepAlive.retryTime
    }

    /// The keep-alive for CONNECT, in seconds. It is longer than the longest interval, so the client always sends a
    /// packet before the keep-alive has passed, as MQTT requires ([MQTT-3.1.2-20]). The broker ends a connection after
    /// 1.5 times the keep-alive without a packet ([MQTT-3.1.2-22]).
    var announcedKeepAlive: UInt16 {
        let room = maximum * Self.usablePart.of / Self.usablePart.parts
        return UInt16(clamping: WireSeconds(room)?.rawValue ?? .max)
    }

    /// Returns these bounds, limited to intervals that fit `agreed`, the keep-alive of the connection. If `agreed` is
    /// `nil`, the bounds are not limited.
    func within(_ agreed: Duration?) -> KeepAliveBounds {
        guard let agreed else { return self }
        var bounds = self
        bounds.maximum = min(maximum, agreed * Self.usablePart.parts / Self.usablePart.of)
        bounds.minimum = min(minimum, bounds.maximum)
        return bounds
    }
}

extension KeepAliveBounds {
    typealias Finding = KeepAliveMemory.Finding

    /// Returns the next interval to try on a network. `known` contains the intervals that worked or failed on this
    /// network before. If it is `nil`, the function returns the minimum.
    func interval(_ known: Finding?, date: Date) -> Duration {
        guard let known, known.interval >= minimum else { return minimum }
        let proven = min(known.interval, maximum)
        let next = min(proven + step, maximum)
        if let failed = failedInterval(of: known, date: date), next >= failed { return proven }
        return next
    }

    /// Returns the new finding about a network after a connection has survived `interval`. `known` is the earlier
    /// finding.
    func survived(_ interval: Duration, _ known: Finding?, network: String, date: Date) -> Finding {
        let failed = known.flatMap { failedInterval(of: $0, date: date) }.flatMap { $0 > interval ? $0 : nil }
        let longest = max(known?.interval ?? interval, interval)
        if let known, known.interval == longest, known.failedInterval == failed { return known }
        return Finding(network: network, interval: longest, failedInterval: failed, date: date)
    }

    /// Returns the new finding about a network after a connection was lost. The connection had been idle for `silence`,
    /// and the planned idle time was `interval`. Returns `nil` if the idle time does not explain the loss:
    ///
    /// - The idle time was shorter than the minimum, so it was not the cause.
    /// - The idle time was much longer than planned, for example because the process was stopped. Then it is not known
    ///   which idle time the connection would have survived.
    func lost(
        after silence: Duration, of interval: Duration, _ known: Finding?, network: String, date: Date
    ) -> Finding? {
        guard silence >= minimum, silence < interval + step else { return nil }
        let proven = known.map { max(minimum, min($0.interval, maximum)) } ?? minimum
        if interval > proven, silence >= proven {
            return Finding(network: network, interval: proven, failedInterval: interval, date: date)
        }
        // The connection did not survive an interval that had worked before, so use a shorter interval.
        return Finding(
            network: network, interval: max(minimum, proven - step), failedInterval: proven, date: date)
    }

    /// Returns the interval that failed, if it is too early to try it again; otherwise `nil`. If the date of `known` is
    /// in the future, the function returns `nil`, because the clock was wrong when `known` was stored.
    private func failedInterval(of known: Finding, date: Date) -> Duration? {
        let age = date.timeIntervalSince(known.date)
        return age >= 0 && Duration.bounded(seconds: age) < retryTime ? known.failedInterval : nil
    }
}

extension KeepAliveBounds {
    /// Checks that the values are in range and fit each other.
    ///
    /// - Throws: ``CourierError/Code/invalidConfiguration`` with the option and its range.
    func check() throws(CourierError) {
        for (name, value) in [
            ("minimumInterval", minimum), ("maximumInterval", maximum), ("step", step),
        ] where !Self.intervals.contains(value) {
            throw CourierError(
                .invalidConfiguration,
                "session.adaptiveKeepAlive.\(name) is \(value); "
                    + "the value must be between \(Self.intervals.lowerBound) and \(Self.intervals.upperBound).")
        }
        guard minimum <= maximum else {
            throw CourierError(
                .invalidConfiguration,
                "session.adaptiveKeepAlive.minimumInterval is \(minimum), more than the maximumInterval of \(maximum).")
        }
        guard retryTime >= maximum else {
            throw CourierError(
                .invalidConfiguration,
                "session.adaptiveKeepAlive.retryTime is \(retryTime); it must be at least the maximumInterval of \(maximum)."
            )
        }
    }

    /// Checks that `policy` permits an idle time as long as the longest interval.
    ///
    /// - Throws: ``CourierError/Code/invalidConfiguration`` with the remedy.
    func check(_ policy: IdleActivityTimeoutPolicy) throws(CourierError) {
        guard policy.isEnabled, .bounded(seconds: policy.readTimeout / 2) <= maximum else { return }
        throw CourierError(
            .invalidConfiguration,
            """
            idleActivityTimeoutPolicy sends a ping after half of its readTimeout of \(policy.readTimeout) s. \
            So the connection is never silent for adaptiveKeepAlive.maximumInterval, \(maximum). \
            Disable the policy, or set readTimeout to more than twice that interval.
            """)
    }
}
