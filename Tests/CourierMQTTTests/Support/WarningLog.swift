import CourierCore
import Synchronization

/// Keeps the log records of a client. Most tests use only the warnings.
final class WarningLog: LogHandler {
    private let kept = Mutex<[LogRecord]>([])

    var records: [LogRecord] { kept.withLock { $0 } }
    var warnings: [String] { records.filter { $0.level >= .warning }.map(\.message) }

    func log(_ record: LogRecord) { kept.withLock { $0.append(record) } }
}
