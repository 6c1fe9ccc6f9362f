public import Foundation

/// The present moment, as the ages of stored messages are measured: by the date, and by the time since the boot.
///
/// ```swift
/// let isUseful = !message.isOver(at: .now)
/// ```
public struct StoreTime: Hashable, Sendable {
    /// The date. It may step forward or back when the system's clock is set.
    public var date: Date

    /// The time since the boot, which never steps; `nil` if it is not known.
    public var bootTime: BootTime?

    /// Joins the two.
    ///
    /// - Parameters:
    ///   - date: The date.
    ///   - bootTime: The time since the boot; `nil` by default, which compares messages by their dates only.
    public init(date: Date, bootTime: BootTime? = nil) {
        self.date = date
        self.bootTime = bootTime
    }

    /// The present moment by the clocks of the system.
    public static var now: StoreTime { StoreTime(date: Date(), bootTime: .now) }
}
