import CourierCore
import Foundation

/// Between what the intervals of an adaptive keep-alive stay, and what follows from what was found out.
struct KeepAliveBounds: Hashable, Sendable {
    /// What an interval may be. More would not leave the keep-alive of CONNECT its room in two bytes.
    static let intervals = Duration.milliseconds(100)...Duration.seconds(12 * 3_600)
    /// The part of the keep-alive that a silence may fill. It is counted from the last answer, but the keep-alive from the
    /// packet before it; the rest is for the way of that answer.
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

    /// The keep-alive for CONNECT, in seconds: the broker ends a connection that was silent for half as much again
    /// ([MQTT-3.1.2-22]), and we never let it come so far ([MQTT-3.1.2-20]).
    var announcedKeepAlive: UInt16 {
        let room = maximum * Self.usablePart.of / Self.usablePart.parts
        return UInt16(clamping: WireSeconds(room)?.rawValue ?? .max)
    }

    /// The same with no more than a keep-alive of `agreed` allows; `nil` allows all.
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

    /// How long the next silence is to be, with what is `known` of the network.
    func interval(_ known: Finding?, date: Date) -> Duration {
        guard let known, known.interval >= minimum else { return minimum }
        let proven = min(known.interval, maximum)
        let next = min(proven + step, maximum)
        if let failed = failedInterval(of: known, date: date), next >= failed { return proven }
        return next
    }

    /// What is known after a silence of `interval` that the connection has survived.
    func survived(_ interval: Duration, _ known: Finding?, network: String, date: Date) -> Finding {
        let failed = known.flatMap { failedInterval(of: $0, date: date) }.flatMap { $0 > interval ? $0 : nil }
        let longest = max(known?.interval ?? interval, interval)
        if let known, known.interval == longest, known.failedInterval == failed { return known }
        return Finding(network: network, interval: longest, failedInterval: failed, date: date)
    }

    /// What is to be believed after a connection was lost in or after a `silence` that was to take `interval`; `nil` if
    /// the silence does not explain it.
    ///
    /// A silence that was short anyway does not. Nor does one that was much too long, as after the process was stopped:
    /// it says nothing of the interval.
    func lost(
        after silence: Duration, of interval: Duration, _ known: Finding?, network: String, date: Date
    ) -> Finding? {
        guard silence >= minimum, silence < interval + step else { return nil }
        let proven = known.map { max(minimum, min($0.interval, maximum)) } ?? minimum
        if interval > proven, silence >= proven {
            return Finding(network: network, interval: proven, failedInterval: interval, date: date)
        }
        // What was survived before is not any more.
        return Finding(
            network: network, interval: max(minimum, proven - step), failedInterval: proven, date: date)
    }

    /// The interval that was too long, unless that was long ago; a date to come is from a clock that was wrong.
    private func failedInterval(of known: Finding, date: Date) -> Duration? {
        let age = date.timeIntervalSince(known.date)
        return age >= 0 && Duration.bounded(seconds: age) < retryTime ? known.failedInterval : nil
    }
}

extension KeepAliveBounds {
    /// Makes sure that the values do not contradict each other.
    ///
    /// - Throws: ``CourierError/Code/invalidConfiguration`` with the option and its range.
    func check() throws(CourierError) {
        for (name, value) in [
            ("minimumInterval", minimum), ("maximumInterval", maximum), ("step", step),
        ] where !Self.intervals.contains(value) {
            throw CourierError(
                .invalidConfiguration,
                "session.adaptiveKeepAlive.\(name) is \(value); it must be between \(Self.intervals.lowerBound) and "
                    + "\(Self.intervals.upperBound).")
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

    /// Makes sure that `policy` lets a silence be as long as the longest interval.
    ///
    /// - Throws: ``CourierError/Code/invalidConfiguration`` with the remedy.
    func check(_ policy: IdleActivityTimeoutPolicy) throws(CourierError) {
        guard policy.isEnabled, .bounded(seconds: policy.readTimeout / 2) <= maximum else { return }
        throw CourierError(
            .invalidConfiguration,
            """
            idleActivityTimeoutPolicy asks for a sign of life after half of its readTimeout of \(policy.readTimeout) s, \
            so no silence would last for adaptiveKeepAlive.maximumInterval, \(maximum); disable the policy, or make \
            readTimeout more than twice as long as that interval.
            """)
    }
}
