public import Foundation

/// A moment as the time since the machine was booted, with the id of that boot.
///
/// Two moments of one boot are compared by this time, which no change of the date affects. It includes the time for which the
/// machine sleeps.
public struct BootTime: Hashable, Sendable {
    /// The id that the system gave this boot. Each boot has another one.
    public let bootID: UUID

    /// The time since the boot, as `ContinuousClock` measures it.
    public let sinceBoot: Duration

    /// Joins the two.
    ///
    /// - Parameters:
    ///   - bootID: The id of the boot.
    ///   - sinceBoot: The time since the boot. A store keeps whole nanoseconds.
    public init(bootID: UUID, sinceBoot: Duration) {
        self.bootID = bootID
        self.sinceBoot = sinceBoot
    }

    /// A moment of a clock that begins with the boot; `nil` if the boot has no id.
    package init?(_ instant: ContinuousClock.Instant, bootID: UUID? = BootTime.presentBootID) {
        guard let bootID else { return nil }
        self.init(bootID: bootID, sinceBoot: ContinuousClock().systemEpoch.duration(to: instant))
    }

    /// The present moment; `nil` if the system gives boots no ids.
    public static var now: BootTime? { BootTime(.now) }

    /// The id of the present boot; `nil` if the system names none. Linux has one in `/proc`.
    package static let presentBootID: UUID? = {
        let text = try? String(contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .utf8)
        return text.flatMap { UUID(uuidString: $0.trimmingCharacters(in: .whitespacesAndNewlines)) }
    }()
}
