public import CourierCore
import Dispatch
import Foundation
import Synchronization

/// Writes the log to standard error, one line for each record.
///
/// If the app sets no `logHandler`, the client writes its warnings and errors to standard error. The client then writes
/// equal records at most once a minute. A `StandardErrorLog` that the app creates does not have this limit:
///
/// ```swift
/// config.logHandler = StandardErrorLog()
/// // 2026-11-21T09:30:00.123Z info connection [phone-7]: the next attempt begins in 2.0 s
/// ```
///
/// A queue writes the lines, so that no caller waits for a slow terminal. If more than ``maximumWaiting`` lines wait,
/// further lines are dropped. Before the next line, the log writes the number of dropped lines.
public final class StandardErrorLog: LogHandler {
    /// The maximum number of lines that wait to be written: 1,000.
    public static let maximumWaiting = 1_000

    /// The log of clients whose app sets no `logHandler`. It writes warnings and errors, and equal records only once a
    /// minute.
    ///
    /// If standard error is closed when the first configuration is created, this log writes nothing. Otherwise, a file
    /// that is opened later could get the descriptor number of standard error, and would receive the log.
    static let standard =
        fcntl(STDERR_FILENO, F_GETFD) == -1
        ? StandardErrorLog(minimumLevel: .warning, limiter: LogLimiter()) { _ in }
        : StandardErrorLog(minimumLevel: .warning, limiter: LogLimiter())

    fileprivate struct State {
        var limiter: LogLimiter?
        var waitingCount = 0
        var droppedCount = 0
    }

    /// The lowest level that is written.
    public let minimumLevel: LogLevel

    private let queue = DispatchQueue(label: "courier.standard-error-log")
    private let state: Mutex<State>
    private let write: @Sendable (String) -> Void

    /// Makes a log.
    ///
    /// - Parameter minimumLevel: The lowest level that is written; `.info` by default.
    public convenience init(minimumLevel: LogLevel = .info) {
        self.init(minimumLevel: minimumLevel, limiter: nil)
    }

    init(
        minimumLevel: LogLevel, limiter: LogLimiter? = nil,
        write: @escaping @Sendable (String) -> Void = StandardErrorLog.writeToStandardError
    ) {
        self.minimumLevel = minimumLevel
        state = Mutex(State(limiter: limiter))
        self.write = write
    }

    /// Writes a record later, on the log's own queue. May be called from any thread, and does not block.
    ///
    /// - Parameter record: The record.
    public func log(_ record: LogRecord) {
        guard record.level >= minimumLevel else { return }
        let now = Date()
        guard let (droppedCount, repeatCount) = state.withLock({ $0.accept(record) }) else { return }
        queue.async { [self] in
            state.withLock { $0.waitingCount -= 1 }
            if droppedCount > 0 { write("(\(droppedCount) lines were dropped)\n") }
            write(Self.line(record, now, repeatCount))
        }
    }

    private static func line(_ record: LogRecord, _ date: Date, _ repeatCount: Int) -> String {
        let time = date.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
        let client = record.clientID.map { " [\($0.quoted())]" } ?? ""
        let repeats = repeatCount > 0 ? " (\(repeatCount + 1) times since it was last written)" : ""
        return "\(time) \(record.level) \(record.source)\(client): \(record.message)\(repeats)\n"
    }

    /// Writes a line to standard error. If the write fails, the process continues. A write fails, for example, if
    /// standard error is closed or is a pipe without a reader.
    private static let writeToStandardError: @Sendable (String) -> Void = { line in
        BrokenPipeSignal.block { try? FileHandle.standardError.write(contentsOf: Data(line.utf8)) }
    }
}

extension StandardErrorLog.State {
    /// Counts a record. Returns `nil` if no line is written for the record. Otherwise, returns two numbers for this
    /// line: how many lines were dropped before it, and how many equal records were skipped before it.
    fileprivate mutating func accept(_ record: LogRecord) -> (droppedCount: Int, repeatCount: Int)? {
        var repeatCount = 0
        switch limiter?.decide(record, now: .now) {
        case nil: break
        case .write(let count)?: repeatCount = count
        case .skip?: return nil
        case .drop?:
            droppedCount += 1
            return nil
        }
        guard waitingCount < StandardErrorLog.maximumWaiting else {
            droppedCount += 1
            return nil
        }
        waitingCount += 1
        defer { droppedCount = 0 }
        return (droppedCount, repeatCount)
    }
}
