public import Foundation

/// The time limit of a connection attempt, in seconds.
///
/// The policy is disabled by default, as in Courier iOS. Two other limits always apply. Name resolution, TCP, the
/// proxy, TLS and WebSocket may take 30 s together. After that, CONNACK must arrive within 10 s after CONNECT.
public struct ConnectTimeoutPolicy: Hashable, Sendable {
    /// Whether ``timeout`` applies; `false` by default.
    public var isEnabled: Bool

    /// Seconds between two checks of a pending attempt, 16 by default.
    ///
    /// This client has exact timers, so it ignores the value and ends the attempt at ``timeout``.
    public var timerInterval: TimeInterval

    /// Seconds after which an attempt without CONNACK ends and the next attempt is scheduled, 10 by default.
    public var timeout: TimeInterval

    /// Makes a policy. The client checks the policy when the client is created. It refuses negative and infinite times,
    /// and a ``timeout`` of 0 in an enabled policy.
    ///
    /// - Parameters:
    ///   - isEnabled: Whether `timeout` applies; `false` by default.
    ///   - timerInterval: Seconds between two checks; 16 by default.
    ///   - timeout: Seconds until an attempt ends; 10 by default.
    public init(isEnabled: Bool = false, timerInterval: TimeInterval = 16, timeout: TimeInterval = 10) {
        self.isEnabled = isEnabled
        self.timerInterval = timerInterval
        self.timeout = timeout
    }
}
