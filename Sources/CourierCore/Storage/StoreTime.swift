public import Foundation

/// A point in time, from which the ages of stored messages are computed: the date, and the time since the boot.
///
/// ```swift
/// let isUseful = !message.isOver(at: .now)
/// ```
public struct StoreTime: Hashable, Sendable {
    /// The date. The date may jump forward or back when the system's clock is set.
    public var date: Date

    /// The time since the boot, which does not change when the system's clock is set; `nil` if it is not known.
    public var bootTime: BootTime?

    /// Creates a point in time.
    ///
    /// - Parameters:
    ///   - date: The date.
    ///   - bootTime: The time since the boot. With `nil`, the default, the ages of messages are measured by dates only.
    public init(date: Date, bootTime: BootTime? = nil) {
        self.date = date
        self.bootTime = bootTime
    }

    /// The current time of the system's clocks.
    public static var now: StoreTime { StoreTime(date: Date(), bootTime: .now) }
}

extension StoreTime {
    /// Returns the time from an earlier point in time to this point in time. If both belong to the same boot of the
    /// machine, a change of the date has no effect. Otherwise, the result is the difference of the dates, or 0 if this
    /// difference is negative.
    ///
    /// - Parameter earlier: The earlier point in time.
    /// - Returns: The time, never negative.
    public func elapsed(since earlier: StoreTime) -> Duration {
        if let earlier = earlier.bootTime, let now = bootTime, earlier.bootID == now.bootID,
            earlier.sinceBoot <= now.sinceBoot
        {
            return now.sinceBoot - earlier.sinceBoot
        }
        return StoredMessage.bounded(date.timeIntervalSince(earlier.date))
    }
}
