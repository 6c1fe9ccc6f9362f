package import CourierCore
package import Foundation

/// Tells the present moment by which stored messages age: the date, and the loop's clock as the time since the boot.
///
/// A ``CourierTransport/LoopClock`` that a test moves counts as the time since the boot, and a test gives dates and boots of its
/// own.
package struct StoreClock: Sendable {
    /// Tells the date; the system's clock by default.
    package var date: @Sendable () -> Date

    /// The id of the present boot; `nil` if it is not known.
    package var bootID: UUID?

    /// Makes a clock.
    ///
    /// - Parameters:
    ///   - bootID: The id of the present boot; that of the system by default.
    ///   - date: Tells the date; the system's clock by default.
    package init(bootID: UUID? = BootTime.presentBootID, date: @escaping @Sendable () -> Date = { Date() }) {
        self.bootID = bootID
        self.date = date
    }

    /// The present moment, at which the loop's clock shows `now`.
    package func time(at now: ContinuousClock.Instant) -> StoreTime {
        StoreTime(date: date(), bootTime: BootTime(now, bootID: bootID))
    }
}
