/// The pauses before a provider that gave no options is asked again.
///
/// A failure that may pass is tried again after 1, 2 and 4 seconds, exactly, and then at the reconnect interval; a failure
/// that will not, at the reconnect interval right away.
struct AuthRetrySchedule: Sendable {
    /// The pauses after the first failures that may pass.
    static let quickPauses: [Duration] = [.seconds(1), .seconds(2), .seconds(4)]

    private var quickCount = 0
    private var schedule: ReconnectSchedule

    /// Goes over to a schedule like `schedule`, from its start.
    init(_ schedule: ReconnectSchedule) {
        self.schedule = schedule
        self.schedule.reset()
    }

    /// Whether no pause was taken since the last reset.
    var isFresh: Bool { quickCount == 0 && schedule.isFresh }

    mutating func next(
        after failure: CredentialFailure, using random: inout some RandomNumberGenerator
    ) -> Duration {
        guard failure.mayPass, quickCount < Self.quickPauses.count else { return schedule.next(using: &random) }
        defer { quickCount += 1 }
        return Self.quickPauses[quickCount]
    }

    /// The provider gave options.
    mutating func reset() {
        quickCount = 0
        schedule.reset()
    }
}
