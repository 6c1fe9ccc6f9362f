/// One entry for a log.
///
/// Later versions may add fields. A record contains no secret: no password, token or payload.
public struct LogRecord: Hashable, Sendable {
    /// The severity.
    public let level: LogLevel

    /// The part of the SDK that logs: `connection`, `reading`, `publishing`, `delivery`, `events`, `store`,
    /// `configuration`, `keep-alive` or `auth`. Later versions may add more.
    public let source: String

    /// The client id of the client that the record is about; `nil` if the record is about no client.
    public let clientID: String?

    /// The text.
    public let message: String

    /// Makes a record.
    ///
    /// - Parameters:
    ///   - level: The severity.
    ///   - source: The part of the SDK that logs.
    ///   - clientID: The client id of the client that the record is about; `nil` by default.
    ///   - message: The text.
    public init(level: LogLevel, source: String, clientID: String? = nil, message: String) {
        self.level = level
        self.source = source
        self.clientID = clientID
        self.message = message
    }
}
