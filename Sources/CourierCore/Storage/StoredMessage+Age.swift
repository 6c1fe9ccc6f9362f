import Foundation

extension StoredMessage {
    /// Longer than any message is kept, in seconds; what a damaged file says may be longer.
    private static let longest = 1e12

    /// How long ago the message was stored.
    ///
    /// If it was stored in the present boot, the times since the boot tell it, and a change of the date has no effect.
    /// Otherwise the dates tell it. A message whose date is in the future has the age 0.
    ///
    /// - Parameter time: The present moment.
    /// - Returns: The age, never negative.
    public func age(at time: StoreTime) -> Duration {
        if let stored = bootTime, let now = time.bootTime, stored.bootID == now.bootID,
            stored.sinceBoot <= now.sinceBoot
        {
            return now.sinceBoot - stored.sinceBoot
        }
        return Self.bounded(time.date.timeIntervalSince(storedAt))
    }

    /// How long the message is of use after it was stored; `nil` for ever.
    public var lifetime: Duration? { expiresAt.map { Self.bounded($0.timeIntervalSince(storedAt)) } }

    /// How long the message is still of use: its ``lifetime`` without its ``age(at:)``.
    ///
    /// - Parameter time: The present moment.
    /// - Returns: Zero if its lifetime is over, `nil` if it has no end.
    public func remaining(at time: StoreTime) -> Duration? {
        lifetime.map { max(.zero, $0 - age(at: time)) }
    }

    /// Whether the lifetime of the message is over. This decides for every store; an index or a query may only choose
    /// candidates.
    ///
    /// - Parameter time: The present moment.
    /// - Returns: `false` if it has no end.
    public func isOver(at time: StoreTime) -> Bool { remaining(at: time).map { $0 <= .zero } ?? false }

    private static func bounded(_ seconds: TimeInterval) -> Duration {
        seconds > 0 ? .seconds(min(seconds, longest)) : .zero
    }
}
