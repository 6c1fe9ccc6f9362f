import CourierCore
import Synchronization

/// Keeps the warnings of a client.
final class WarningLog: LogHandler {
    private let kept = Mutex<[String]>([])

    var warnings: [String] { kept.withLock { $0 } }

    func log(_ record: LogRecord) {
        if record.level >= .warning { kept.withLock { $0.append(record.message) } }
    }
}
