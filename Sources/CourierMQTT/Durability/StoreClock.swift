package import CourierCore
package import Foundation

/// The clock for the ages of stored messages: the date, and the loop's clock as the time since the boot.
///
/// In tests, the ``CourierTransport/LoopClock`` of the test is the time since the boot, and the test sets date and boot.
package struct StoreClock: Sendable {
    /// Returns the date; the system's clock by default.
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
