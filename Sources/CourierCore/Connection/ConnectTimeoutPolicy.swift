public import Foundation

/// The time limit of a connection attempt, in seconds.
///
/// It is disabled by default, as in Courier iOS. Two other limits always apply: 30 s for name resolution, TCP, the
/// proxy, TLS and WebSocket together, and then 10 s from CONNECT to CONNACK.
public struct ConnectTimeoutPolicy: Hashable, Sendable {
    /// Whether ``timeout`` applies; `false` by default.
    public var isEnabled: Bool

    /// Seconds between two checks of a pending attempt, 16 by default.
    ///
    /// This client has exact timers, so it ignores the value and ends the attempt at ``timeout``.
    public var timerInterval: TimeInterval

    /// Seconds after which an attempt without CONNACK ends and the next one is scheduled, 10 by default.
    public var timeout: TimeInterval

    /// Makes a policy. When the client is made, it refuses negative and infinite times, and a ``timeout`` of 0 in an
    /// enabled policy.
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
