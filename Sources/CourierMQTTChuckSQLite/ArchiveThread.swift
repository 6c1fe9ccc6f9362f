import CourierCore
import CourierMQTTChuck
import CourierSQLite
import Dispatch
import Foundation
import Synchronization

/// The archive's own thread: takes new rows out of the logger, writes them together, and sleeps.
final class ArchiveThread: Sendable {
    private struct Inbox {
        var status: MQTTChuckArchive.Status
        var flushes: [@Sendable (Result<Void, any Error>) -> Void] = []
        var whenClosed: [@Sendable () -> Void] = []
        var isClosing = false
        var isClosed = false
    }

    /// How far the thread has got.
    private struct Progress {
        /// The row to continue with.
        var next: UInt64
        /// How many rows of the logger were gone before the archive was made.
        let goneBefore: UInt64
        var written: UInt64 = 0
        /// Whether a damaged file was set aside. It happens once, so that a disk that damages everything does not fill
        /// itself with damaged files.
        var hasQuarantined = false
    }

    /// How many rows go into one transaction.
    private static let batch = 4_096

    private let inbox: Mutex<Inbox>
    private let bell = DispatchSemaphore(value: 0)
    private let writer: NonSendableBox<ArchiveWriter>
    private let logger: MQTTChuckLogger
    private let interval: DispatchTimeInterval
    /// After how long it is tried again what has failed.
    private let patience: DispatchTimeInterval
    private let beginning: Progress

    /// Takes over an open file. It is used by the thread alone from here on.
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

    /// Starts the thread, which lives until ``close(_:)``.
    func start() {
        let thread = Thread { self.writer.use { self.run($0) } }
        thread.name = "courier.archive"
        thread.start()
    }

    // MARK: From any thread

    var status: MQTTChuckArchive.Status { inbox.withLock { $0.status } }

    func flush(_ completion: @escaping @Sendable (Result<Void, any Error>) -> Void) {
        let isTaken = inbox.withLock { inbox in
            if !inbox.isClosing { inbox.flushes.append(completion) }
            return !inbox.isClosing
        }
        if isTaken {
            bell.signal()
        } else {
            completion(.failure(CourierError(.storeFailed, "The archive is closed. Make a new one to go on.")))
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

    // MARK: On the thread

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
            // Lets more rows gather, unless somebody waits for those that are there.
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

    /// Writes the rows that there are now; those that come meanwhile wait for the next time.
    private func catchUp(_ progress: inout Progress, _ writer: ArchiveWriter) -> CourierError? {
        let summary = logger.summary
        while progress.next < summary.nextRow {
            let (records, next) = records(from: progress.next, to: summary.nextRow)
            do throws(SQLiteFailure) {
                if !records.isEmpty { try writer.write(records, now: Date()) }
            } catch {
                if let error = failed(error, &progress, writer) { return error }
                continue  // The same rows, into the new file.
            }
            progress.next = next
            progress.written += UInt64(records.count)
            inbox.withLock { inbox in
                inbox.status.writtenRows = progress.written
                inbox.status.failure = nil
            }
        }
        // Only now is known which of the rows up to here are missing, because their numbers may have gaps.
        let missed = summary.recordedCount - progress.goneBefore - progress.written
        inbox.withLock { $0.status.missedRows = missed }
        return nil
    }

    /// The rows for one transaction, and the row to continue with behind them.
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

    /// Notes a failure; `nil` when a damaged file was set aside, so that it can be tried again at once.
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
