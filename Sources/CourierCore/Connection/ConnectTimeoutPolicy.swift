public import Foundation

/// When to give up on a connection attempt that gets no answer.
///
/// All times are in seconds. Disabled by default, as in the published API; a disabled policy leaves the attempt to
/// the limits of the transport, which hold in any case: 30 s from the name of the host to the end of TLS and WebSocket,
/// and then 10 s from CONNECT to CONNACK.
public struct ConnectTimeoutPolicy: Hashable, Sendable {
    /// Whether attempts are timed at all; `false` by default.
    public var isEnabled: Bool

    /// Seconds between two looks at a pending attempt, 16 by default.
    ///
    /// A client with exact timers needs no looks and ends the attempt at ``timeout``.
    public var timerInterval: TimeInterval

    /// Seconds after which an attempt without CONNACK is given up and the next one is scheduled, 10 by default.
    public var timeout: TimeInterval

    /// Collects the times; the client refuses negative or infinite ones when it is made, and a ``timeout`` of 0 where
    /// the policy is enabled.
    ///
    /// - Parameters:
    ///   - isEnabled: Whether attempts are timed; `false` by default.
    ///   - timerInterval: Seconds between two looks; 16 by default.
    ///   - timeout: Seconds until an attempt is given up; 10 by default.
    public init(isEnabled: Bool = false, timerInterval: TimeInterval = 16, timeout: TimeInterval = 10) {
        self.isEnabled = isEnabled
        self.timerInterval = timerInterval
        self.timeout = timeout
    }
}
