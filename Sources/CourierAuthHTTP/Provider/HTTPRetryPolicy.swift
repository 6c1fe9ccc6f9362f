/// How often one call of a provider asks the token endpoint again by itself.
///
/// Off by default: a client asks its provider again after 1, 2 and 4 seconds, and then at its reconnect interval. A policy is
/// for those who call ``HTTPConnectionServiceProvider/connectOptions()`` themselves. Asked again is after failures that
/// may pass: a network error, a timeout, and the statuses 408, 425, 429, 500, 502, 503 and 504.
public struct HTTPRetryPolicy: Hashable, Sendable {
    /// How often one call asks at most, the first time included; 1, the default, turns the policy off.
    public var maximumAttempts: Int
    /// The pause before the second attempt, doubled before each further one; 1 s by default.
    public var firstPause: Duration
    /// The longest pause; 30 s by default.
    public var maximumPause: Duration

    /// Asks once.
    public static let off = HTTPRetryPolicy(maximumAttempts: 1)

    /// Collects the numbers. A random part of up to half is taken off each pause, so that many clients do not ask at once.
    ///
    /// - Parameters:
    ///   - maximumAttempts: How often one call asks at most; less than 1 is taken for 1.
    ///   - firstPause: The pause before the second attempt; 1 s by default.
    ///   - maximumPause: The longest pause; 30 s by default.
    public init(
        maximumAttempts: Int, firstPause: Duration = .seconds(1), maximumPause: Duration = .seconds(30)
    ) {
        self.maximumAttempts = maximumAttempts
        self.firstPause = firstPause
        self.maximumPause = maximumPause
    }

    /// The pause after the `count`th attempt has failed; `nil` when it was the last one.
    func pause(afterFailures count: Int, using random: inout some RandomNumberGenerator) -> Duration? {
        guard count < maximumAttempts else { return nil }
        var pause = min(max(firstPause, .zero), maximumPause)
        var doublings = count - 1
        while doublings > 0, pause > .zero, pause < maximumPause {
            pause = min(pause * 2, maximumPause)
            doublings -= 1
        }
        return pause / 2 + pause / 2 * Double.random(in: 0...1, using: &random)
    }
}
