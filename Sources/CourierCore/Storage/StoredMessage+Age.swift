import Foundation

extension StoredMessage {
    /// The maximum age and lifetime of a message in seconds, about 30,000 years. A longer time, for example from a
    /// damaged file, is shortened to this value.
    private static let longest = 1e12

    /// The time since the message was stored.
    ///
    /// If the message was stored in the current boot of the machine, the age is the difference of the times since the
    /// boot. Then a change of the date has no effect on the age. Otherwise, the age is the difference of the dates, or
    /// 0 if that difference is negative.
    ///
    /// - Parameter time: The current time.
    /// - Returns: The age, never negative.
    public func age(at time: StoreTime) -> Duration {
        time.elapsed(since: StoreTime(date: storedAt, bootTime: bootTime))
    }

    /// The time for which the message is valid after it was stored; `nil` for no limit.
    public var lifetime: Duration? { expiresAt.map { Self.bounded($0.timeIntervalSince(storedAt)) } }

    /// Returns the time for which the message is still valid: its ``lifetime`` minus its ``age(at:)``.
    ///
    /// - Parameter time: The current time.
    /// - Returns: The remaining time. Zero if the lifetime is over, and `nil` if the lifetime has no limit.
    public func remaining(at time: StoreTime) -> Duration? {
        lifetime.map { max(.zero, $0 - age(at: time)) }
    }

    /// Returns whether the lifetime of the message is over. Every store must use this method to decide whether a
    /// message has expired. An index or a query may select candidates, but this method must then check each candidate.
    ///
    /// - Parameter time: The current time.
    /// - Returns: `true` if the lifetime is over; `false` if it is not over or has no limit.
    public func isOver(at time: StoreTime) -> Bool { remaining(at: time).map { $0 <= .zero } ?? false }

    /// Returns the number of seconds as a duration, which is not negative and not longer than ``longest``.
    static func bounded(_ seconds: TimeInterval) -> Duration {
        seconds > 0 ? .seconds(min(seconds, longest)) : .zero
    }
}
