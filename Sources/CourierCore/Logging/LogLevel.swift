/// The severity of a log record.
public enum LogLevel: Int, Hashable, Sendable, Comparable, CaseIterable {
    /// The finest detail. The SDK currently logs nothing at this level. To see packets, set the client's
    /// `packetObserver`.
    case trace

    /// The single steps of an operation, for developers.
    case debug

    /// Changes that an operator wants to see, such as connected or reconnecting.
    case info

    /// Something failed, and the client recovers by itself.
    case warning

    /// Something failed, and the app or an operator must act.
    case error

    /// Orders levels by severity: `.trace` is the lowest, `.error` the highest.
    public static func < (left: LogLevel, right: LogLevel) -> Bool { left.rawValue < right.rawValue }
}
