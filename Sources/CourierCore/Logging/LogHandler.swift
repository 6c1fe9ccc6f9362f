/// Receives the SDK's log records, so that the app can write them to its own log.
///
/// ```swift
/// struct PrintingLog: LogHandler {
///     func log(_ record: LogRecord) { print(record.level, record.source, record.message) }
/// }
/// ```
///
/// Contract: The handler is called from any thread, including event loops, and from several threads at the same time.
/// It must not block and must not call the client. The records of one connection arrive in the order in which they were
/// created. A handler cannot report a failure: it drops the records that it cannot write.
public protocol LogHandler: Sendable {
    /// The lowest level of the records that the handler receives; `.info` by default.
    ///
    /// The client reads this property before it creates a record, so the property must be cheap to read.
    var minimumLevel: LogLevel { get }

    /// Logs one record.
    ///
    /// - Parameter record: The record, whose level is at least ``minimumLevel``.
    func log(_ record: LogRecord)
}

extension LogHandler {
    /// The default level, `.info`.
    public var minimumLevel: LogLevel { .info }

    /// Logs a message if its level is at least `minimumLevel`. Otherwise, the text of the message is not created.
    ///
    /// - Parameters:
    ///   - level: The severity.
    ///   - source: The part of the SDK that logs.
    ///   - clientID: The client that the message is about; `nil` by default.
    ///   - message: The text.
    public func log(
        _ level: LogLevel, source: String, clientID: String? = nil, _ message: @autoclosure () -> String
    ) {
        guard level >= minimumLevel else { return }
        log(LogRecord(level: level, source: source, clientID: clientID, message: message()))
    }
}
