/// One line for a log.
///
/// Later versions may add fields. Nothing in it is secret: no password, token or payload.
public struct LogRecord: Hashable, Sendable {
    /// How much it matters.
    public let level: LogLevel

    /// The part of the SDK that speaks: `connection`, `reading`, `configuration`, `keep-alive` or `auth`. Later
    /// versions may have others.
    public let source: String

    /// The client it is about, `nil` when it is about none.
    public let clientID: String?

    /// The sentence.
    public let message: String

    /// Makes a record.
    ///
    /// - Parameters:
    ///   - level: How much it matters.
    ///   - source: The part of the SDK that speaks.
    ///   - clientID: The client it is about; `nil` by default.
    ///   - message: The sentence.
    public init(level: LogLevel, source: String, clientID: String? = nil, message: String) {
        self.level = level
        self.source = source
        self.clientID = clientID
        self.message = message
    }
}
