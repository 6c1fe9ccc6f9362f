import CourierCore
import CourierMQTTChuck
import CourierSQLite
import Dispatch
import Foundation
import Synchronization

/// The thread of an archive. It reads new rows from the logger and writes them to the file in batches. It then sleeps
/// until there are new rows.
final class ArchiveThread: Sendable {
    private struct Inbox {
        var status: MQTTChuckArchive.Status
        var flushes: [@Sendable (Result<Void, any Error>) -> Void] = []
        var whenClosed: [@Sendable () -> Void] = []
        var isClosing = false
        var isClosed = false
    }

    /// The progress of the thread in writing the rows of the logger.
    private struct Progress {
        /// The number of the next row to write.
        var next: UInt64
        /// The number of rows that the logger had dropped before the archive was opened.
        let goneBefore: UInt64
        var written: UInt64 = 0
        /// True if a damaged file was replaced. This happens only once, so that a faulty disk does not fill up with
        /// damaged files.
        var hasQuarantined = false
    }

    /// The maximum number of rows in one transaction.
    private static let batch = 4_096

    private let inbox: Mutex<Inbox>
    private let bell = DispatchSemaphore(value: 0)
    private let writer: NonSendableBox<ArchiveWriter>
    private let logger: MQTTChuckLogger
    private let interval: DispatchTimeInterval
    /// The delay before a failed write is tried again.
    private let patience: DispatchTimeInterval
    private let beginning: Progress

    /// Takes ownership of an open file. From now on, only the thread uses it.
    init(
        _ writer: sending ArchiveWriter, _ logger: MQTTChuckLogger, interval: Duration, patience: Duration,
        _ status: MQTTChuckArchive.Status
    ) {
        self.writer = NonSendableBox(writer)
        self.logger = logger
        self.interval = Self.dispatched(interval)
        self.patience = Self.dispatched(patience)
        let summary = logger.summary
        beginning = Progress(
            next: summary.firstRow, goneBefore: summary.recordedCount - UInt64(summary.rowCount))
        inbox = Mutex(Inbox(status: status))
    }

    private static func dispatched(_ duration: Duration) -> DispatchTimeInterval {
        .nanoseconds(Int(clamping: Nanoseconds.of(min(max(duration, .zero), .seconds(3_600)))))
    }

    /// Starts the thread. It runs until ``close(_:)`` is called.
    func start() {
        let thread = Thread { self.writer.use { self.run($0) } }
        thread.name = "courier.archive"
        thread.start()
    }

    // MARK: Called on any thread

    var status: MQTTChuckArchive.Status { inbox.withLock { $0.status } }

    func flush(_ completion: @escaping @Sendable (Result<Void, any Error>) -> Void) {
        let isTaken = inbox.withLock { inbox in
            if !inbox.isClosing { inbox.flushes.append(completion) }
            return !inbox.isClosing
        }
        if isTaken {
            bell.signal()
        } else {
            completion(.failure(CourierError(.storeFailed, "The archive is closed. Make a new archive.")))
        }
    }

    func close(_ completion: @escaping @Sendable () -> Void) {
        let isClosed = inbox.withLock { inbox in
            inbox.isClosing = true
            if !inbox.isClosed { inbox.whenClosed.append(completion) }
            return inbox.isClosed
        }
        if isClosed { return completion() }
        bell.signal()
    }

    // MARK: Called on the archive's thread

    private func run(_ writer: ArchiveWriter) {
        let waiter = logger.newWaiter()
        var progress = beginning
        while true {
            let (flushes, isClosing) = inbox.withLock { inbox in
                defer { inbox.flushes = [] }
                return (inbox.flushes, inbox.isClosing)
            }
            let failure = catchUp(&progress, writer)
            for flush in flushes { flush(failure.map { .failure($0) } ?? .success(())) }
            if isClosing { break }
            if failure != nil {
                _ = bell.wait(timeout: .now() + patience)
                continue
            }
            logger.whenThereIs(row: progress.next, for: waiter) { [bell] in bell.signal() }
            bell.wait()
            // Unless a caller of `flush` or `close` waits, the thread waits for more rows, so that it can write them
            // together.
            if !isAwaited { _ = bell.wait(timeout: .now() + interval) }
        }
        logger.removeWaiter(waiter)
        writer.close()
        let tell = inbox.withLock { inbox in
            inbox.isClosed = true
            defer { inbox.whenClosed = [] }
            return inbox.whenClosed
        }
        for completion in tell { completion() }
    }

    private var isAwaited: Bool { inbox.withLock { $0.isClosing || !$0.flushes.isEmpty } }

    /// Writes the rows that the logger holds now. Rows that are recorded during the call are written by the next call.
    private func catchUp(_ progress: inout Progress, _ writer: ArchiveWriter) -> CourierError? {
        let summary = logger.summary
        while progress.next < summary.nextRow {
            let (records, next) = records(from: progress.next, to: summary.nextRow)
            do throws(SQLiteFailure) {
                if !records.isEmpty { try writer.write(records, now: Date()) }
            } catch {
                if let error = failed(error, &progress, writer) { return error }
                continue  // Writes the same rows again, into the new file.
            }
            progress.next = next
            progress.written += UInt64(records.count)
            inbox.withLock { inbox in
                inbox.status.writtenRows = progress.written
                inbox.status.failure = nil
            }
        }
        // The number of missed rows is computed from counts, and only after all rows were read. Row numbers alone do
        // not show how many rows were missed, because they may have gaps.
        let missed = summary.recordedCount - progress.goneBefore - progress.written
        inbox.withLock { $0.status.missedRows = missed }
        return nil
    }

    /// Returns the rows for one transaction, and the row number at which the next transaction starts.
    private func records(from first: UInt64, to end: UInt64) -> (records: [PacketRecord], next: UInt64) {
        var records: [PacketRecord] = []
        var next = first
        while records.count < Self.batch, next < end {
            let part = logger.records(from: next).prefix { $0.number < end }
            guard let last = part.last else { return (records, end) }
            records += part
            next = last.number + 1
        }
        return (records, next)
    }

    /// Records a failure and returns its error. If a damaged file was replaced, returns `nil`, so that the caller can
    /// try again at once.
    private func failed(
        _ failure: SQLiteFailure, _ progress: inout Progress, _ writer: ArchiveWriter
    ) -> CourierError? {
        var error = failure.archiveError(writer.files.path)
        if failure.isDamage, !progress.hasQuarantined {
            do throws(CourierError) {
                let quarantinedFile = try writer.quarantine(damagedBy: failure)
                progress.hasQuarantined = true
                inbox.withLock { $0.status.quarantinedFile = quarantinedFile }
                return nil
            } catch let other {
                error = other
            }
        }
        inbox.withLock { $0.status.failure = error }
        return error
    }
}
