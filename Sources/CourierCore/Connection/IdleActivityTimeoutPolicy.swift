public import Foundation

/// The rule for treating a silent connection as dead, and opening a new connection.
///
/// All times are in seconds. The policy is disabled by default, as in Courier iOS. Without the policy, keep-alive still
/// finds dead connections, but later. When half of ``inactivityTimeout`` or ``readTimeout`` has passed, the client
/// sends PINGREQ. The response keeps a quiet connection open. If a slow reader of messages makes the client stop
/// reading, the time without received bytes is not counted.
public struct IdleActivityTimeoutPolicy: Hashable, Sendable {
    /// Whether the timeouts apply; `false` by default.
    public var isEnabled: Bool

    /// Seconds between two checks of the connection, 12 by default.
    ///
    /// This client has exact timers, so it ignores the value.
    public var timerInterval: TimeInterval

    /// The maximum time from a send to the next received bytes, in seconds; 10 by default.
    public var inactivityTimeout: TimeInterval

    /// The maximum time without received bytes, in seconds; 40 by default.
    public var readTimeout: TimeInterval

    /// Makes a policy. The client checks the policy when the client is created. It refuses negative and infinite times,
    /// and timeouts of 0 in an enabled policy.
    ///
    /// - Parameters:
    ///   - isEnabled: Whether the timeouts apply; `false` by default.
    ///   - timerInterval: Seconds between two checks; 12 by default.
    ///   - inactivityTimeout: Seconds from a send to the next received bytes; 10 by default.
    ///   - readTimeout: Seconds without received bytes; 40 by default.
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
