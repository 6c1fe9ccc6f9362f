/// The automatic retries of one provider call.
///
/// Retries are off by default, because a client asks its provider again after 1, 2 and 4 seconds, and then at its
/// reconnect interval. Use a policy if your code calls ``HTTPConnectionServiceProvider/connectOptions()`` itself. Only
/// failures that may be temporary are retried: a network error, a timeout, and the statuses 408, 425, 429, 500, 502,
/// 503 and 504.
public struct HTTPRetryPolicy: Hashable, Sendable {
    /// The maximum number of attempts of one call, including the first; 1 turns retries off.
    public var maximumAttempts: Int
    /// The pause before the second attempt; 1 s by default. The pause is doubled before each further attempt.
    public var firstPause: Duration
    /// The longest pause; 30 s by default.
    public var maximumPause: Duration

    /// One attempt without retries.
    public static let off = HTTPRetryPolicy(maximumAttempts: 1)

    /// Creates a policy. Each pause is shortened by a random part, up to half of it, so that many clients do not retry
    /// at the same time.
    ///
    /// - Parameters:
    ///   - maximumAttempts: The maximum number of attempts of one call; less than 1 counts as 1.
    ///   - firstPause: The pause before the second attempt; 1 s by default.
    ///   - maximumPause: The longest pause; 30 s by default.
    public init(
        maximumAttempts: Int, firstPause: Duration = .seconds(1), maximumPause: Duration = .seconds(30)
    ) {
        self.maximumAttempts = maximumAttempts
        self.firstPause = firstPause
        self.maximumPause = maximumPause
    }

    /// Returns the pause after `count` failed attempts; `nil` if no attempt is left. `random` is a number from 0 to 1.
    func pause(afterFailures count: Int, random: Double) -> Duration? {
        guard count < maximumAttempts else { return nil }
        var pause = min(max(firstPause, .zero), maximumPause)
        var doublings = count - 1
        while doublings > 0, pause > .zero, pause < maximumPause {
            pause = min(pause * 2, maximumPause)
            doublings -= 1
        }
        return pause / 2 + pause / 2 * random
    }
}
