package import CourierCore
package import Foundation

/// The clock for the ages of stored messages. The clock returns the date, and the time since the boot of the system.
///
/// In a test, the test's ``CourierTransport/LoopClock`` provides the time since the boot, and the test sets the date
/// and the boot id.
package struct StoreClock: Sendable {
    /// Returns the date; the system's clock by default.
    package var date: @Sendable () -> Date

    /// The id of the current boot of the system; `nil` if it is not known.
    package var bootID: UUID?

    /// Makes a clock.
    ///
    /// - Parameters:
    ///   - bootID: The id of the current boot; read from the system by default.
    ///   - date: Returns the date; the system's clock by default.
    package init(bootID: UUID? = BootTime.presentBootID, date: @escaping @Sendable () -> Date = { Date() }) {
        self.bootID = bootID
        self.date = date
    }

    /// Returns the present time for stored messages. `now` is the present time of the event loop's clock.
    package func time(at now: ContinuousClock.Instant) -> StoreTime {
        StoreTime(date: date(), bootTime: BootTime(now, bootID: bootID))
    }
}
