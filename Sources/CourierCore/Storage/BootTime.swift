public import Foundation

/// A point in time: the time since the machine was booted, and the id of that boot.
///
/// Two points in time of the same boot are compared by their time since the boot. The time since the boot includes the
/// time that the machine sleeps. A change of the system's date does not affect the time since the boot.
public struct BootTime: Hashable, Sendable {
    /// The id that the system gave to this boot. Each boot has a different id.
    public let bootID: UUID

    /// The time since the boot, as `ContinuousClock` measures it.
    public let sinceBoot: Duration

    /// Creates a point in time.
    ///
    /// - Parameters:
    ///   - bootID: The id of the boot.
    ///   - sinceBoot: The time since the boot. A message store saves it with a precision of one nanosecond.
    public init(bootID: UUID, sinceBoot: Duration) {
        self.bootID = bootID
        self.sinceBoot = sinceBoot
    }

    /// Creates a point in time from a clock instant. Returns `nil` if the system has no boot ids.
    package init?(_ instant: ContinuousClock.Instant, bootID: UUID? = BootTime.presentBootID) {
        guard let bootID else { return nil }
        self.init(bootID: bootID, sinceBoot: ContinuousClock().systemEpoch.duration(to: instant))
    }

    /// The current time; `nil` if the system has no boot ids.
    public static var now: BootTime? { BootTime(.now) }

    /// The id of the current boot; `nil` on a system without boot ids.
    package static let presentBootID: UUID? = SystemBoot.id.flatMap { UUID(uuidString: $0) }
}
