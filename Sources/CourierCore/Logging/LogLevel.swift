/// How much a log record matters.
public enum LogLevel: Int, Hashable, Sendable, Comparable, CaseIterable {
    /// The finest detail. Nothing is logged at this level now; packets are shown to the client's `packetObserver`.
    case trace

    /// Steps inside an operation.
    case debug

    /// What an operator wants to know: connected, reconnecting.
    case info

    /// Something failed, and the client copes by itself.
    case warning

    /// Something failed, and the app or an operator has to act.
    case error

    /// Orders by weight.
    public static func < (left: LogLevel, right: LogLevel) -> Bool { left.rawValue < right.rawValue }
}
