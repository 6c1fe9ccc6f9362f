/// The pauses before a provider that gave no options is asked again.
///
/// After a temporary failure, the provider is asked again after exactly 1, 2 and 4 seconds, and then at the reconnect
/// interval. After a permanent failure, it is asked at the reconnect interval from the start.
struct AuthRetrySchedule: Sendable {
    /// The pauses after the first temporary failures.
    static let quickPauses: [Duration] = [.seconds(1), .seconds(2), .seconds(4)]

    private var quickCount = 0
    private var schedule: ReconnectSchedule

    /// Replaces the reconnect schedule by a copy of `schedule`, and starts it from its beginning.
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
