public import CourierCore
import Dispatch
import Foundation
import Synchronization

/// Writes the log to standard error, a line for each record: what to look at first when nothing happens.
///
/// ```swift
/// config.logHandler = StandardErrorLog()
/// // 2026-11-21T09:30:00.123Z info connection [phone-7]: the next attempt begins in 2.0 s
/// ```
///
/// Lines are written on a queue, so that nobody waits for a slow terminal; beyond ``maximumWaiting`` lines are dropped,
/// and the next one says how many.
public final class StandardErrorLog: LogHandler {
    /// How many lines may wait to be written: 1,000.
    public static let maximumWaiting = 1_000

    private struct State {
        var waitingCount = 0
        var droppedCount = 0
    }

    /// The least level that is written.
    public let minimumLevel: LogLevel

    private let queue = DispatchQueue(label: "courier.standard-error-log")
    private let state = Mutex(State())
    private let write: @Sendable (String) -> Void

    /// Makes a log.
    ///
    /// - Parameter minimumLevel: The least level that is written; `.info` by default.
    public convenience init(minimumLevel: LogLevel = .info) {
        self.init(minimumLevel: minimumLevel) { FileHandle.standardError.write(Data($0.utf8)) }
    }

    init(minimumLevel: LogLevel, write: @escaping @Sendable (String) -> Void) {
        self.minimumLevel = minimumLevel
        self.write = write
    }

    /// Writes a record soon. From any thread; it does not block.
    ///
    /// - Parameter record: The record.
    public func log(_ record: LogRecord) {
        guard record.level >= minimumLevel else { return }
        let now = Date()
        let dropped = state.withLock { state -> Int? in
            guard state.waitingCount < Self.maximumWaiting else {
                state.droppedCount += 1
                return nil
            }
            state.waitingCount += 1
            defer { state.droppedCount = 0 }
            return state.droppedCount
        }
        guard let dropped else { return }
        queue.async { [self] in
            state.withLock { $0.waitingCount -= 1 }
            if dropped > 0 { write("(\(dropped) lines were dropped)\n") }
            write(Self.line(record, now))
        }
    }

    private static func line(_ record: LogRecord, _ date: Date) -> String {
        let time = date.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
        let client = record.clientID.map { " [\($0.quoted())]" } ?? ""
        return "\(time) \(record.level) \(record.source)\(client): \(record.message)\n"
    }
}
