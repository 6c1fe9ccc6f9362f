public import Foundation

/// When to treat a silent connection as dead and open a new one.
///
/// All times are in seconds. Disabled by default, as in the published API; keep-alive still finds dead connections
/// then, later. Before the client gives a connection up it pings, when half of ``inactivityTimeout`` or
/// ``readTimeout`` is over, so that one which is only quiet stays. While a slow reader holds up reading, nothing is
/// timed: silence says nothing then.
public struct IdleActivityTimeoutPolicy: Hashable, Sendable {
    /// Whether silence is timed at all; `false` by default.
    public var isEnabled: Bool

    /// Seconds between two looks at the connection, 12 by default.
    ///
    /// A client with exact timers needs no looks.
    public var timerInterval: TimeInterval

    /// Seconds that may pass after something was sent without anything coming back, 10 by default.
    public var inactivityTimeout: TimeInterval

    /// Seconds that may pass without anything read at all, 40 by default.
    public var readTimeout: TimeInterval

    /// Collects the times; the client refuses negative or infinite ones when it is made, and timeouts of 0 where the
    /// policy is enabled.
    ///
    /// - Parameters:
    ///   - isEnabled: Whether silence is timed; `false` by default.
    ///   - timerInterval: Seconds between two looks; 12 by default.
    ///   - inactivityTimeout: Seconds of silence after a send; 10 by default.
    ///   - readTimeout: Seconds of silence at all; 40 by default.
    public init(
        isEnabled: Bool = false,
        timerInterval: TimeInterval = 12,
        inactivityTimeout: TimeInterval = 10,
        readTimeout: TimeInterval = 40
    ) {
        self.isEnabled = isEnabled
        self.timerInterval = timerInterval
        self.inactivityTimeout = inactivityTimeout
        self.readTimeout = readTimeout
    }
}
