/// Takes the SDK's log lines wherever the app keeps its log.
///
/// ```swift
/// struct PrintingLog: LogHandler {
///     func log(_ record: LogRecord) { print(record.level, record.source, record.message) }
/// }
/// ```
///
/// Contract. Calls come from any thread, several at a time, also from an event loop: the handler must not block and
/// must not call the client. The records of one connection come in order. A handler cannot fail; what it cannot
/// write, it drops.
public protocol LogHandler: Sendable {
    /// The least level that is of interest; records of lesser ones are not handed over. `.info` by default.
    ///
    /// Asked before each record, hence cheap.
    var minimumLevel: LogLevel { get }

    /// Takes one record.
    ///
    /// - Parameter record: The record; at least of ``minimumLevel``.
    func log(_ record: LogRecord)
}

extension LogHandler {
    /// `.info`.
    public var minimumLevel: LogLevel { .info }

    /// Logs a message that is only made when its level is of interest.
    ///
    /// - Parameters:
    ///   - level: How much it matters.
    ///   - source: The part that speaks.
    ///   - clientID: The client it is about; `nil` by default.
    ///   - message: The sentence.
    public func log(
        _ level: LogLevel, source: String, clientID: String? = nil, _ message: @autoclosure () -> String
    ) {
        guard level >= minimumLevel else { return }
        log(LogRecord(level: level, source: source, clientID: clientID, message: message()))
    }
}
