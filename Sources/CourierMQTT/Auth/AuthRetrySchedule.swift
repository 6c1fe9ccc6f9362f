/// Computes the pauses between requests to a provider that returned no options.
///
/// After the first three temporary failures, the pauses are exactly 1, 2 and 4 seconds. All other pauses come from the
/// reconnect schedule. A pause after a permanent failure always comes from the reconnect schedule.
struct AuthRetrySchedule: Sendable {
    /// The pauses after the first three temporary failures.
    static let quickPauses: [Duration] = [.seconds(1), .seconds(2), .seconds(4)]

    private var quickCount = 0
    private var schedule: ReconnectSchedule

    /// Makes a schedule. All pauses except the quick pauses come from `schedule`, beginning with the first pause of
    /// `schedule`.
    init(_ schedule: ReconnectSchedule) {
        self.schedule = schedule
        self.schedule.reset()
    }

    /// True if no pause was used since the last reset.
    var isFresh: Bool { quickCount == 0 && schedule.isFresh }

    mutating func next(
        after failure: CredentialFailure, using random: inout some RandomNumberGenerator
    ) -> Duration {
        guard failure.mayPass, quickCount < Self.quickPauses.count else { return schedule.next(using: &random) }
        defer { quickCount += 1 }
        return Self.quickPauses[quickCount]
    }

    /// Starts again with the first pause. Called when the provider has returned options.
    mutating func reset() {
        quickCount = 0
        schedule.reset()
    }
}
