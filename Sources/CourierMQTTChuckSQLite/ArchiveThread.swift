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

    /// How many rows go into one transaction.
    private static let batch = 4_096
    /// After how long it is tried again what has failed.
    private static let patience = DispatchTimeInterval.seconds(1)

    private let inbox: Mutex<Inbox>
    private let bell = DispatchSemaphore(value: 0)
    private let writer: Confined<ArchiveWriter>
    private let logger: MQTTChuckLogger
    private let interval: DispatchTimeInterval

    /// Takes over an open file. It is used by the thread alone from here on.
    init(
        _ writer: sending ArchiveWriter, _ logger: MQTTChuckLogger, _ interval: Duration,
        _ status: MQTTChuckArchive.Status
    ) {
        self.writer = Confined(writer)
        self.logger = logger
        let (seconds, attoseconds) = min(max(interval, .zero), .seconds(3_600)).components
        self.interval = .nanoseconds(Int(seconds * 1_000_000_000 + attoseconds / 1_000_000_000))
        inbox = Mutex(Inbox(status: status))
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
        var next: UInt64 = 1
        while true {
            let (flushes, isClosing) = inbox.withLock { inbox in
                defer { inbox.flushes = [] }
                return (inbox.flushes, inbox.isClosing)
            }
            let failure = catchUp(&next, writer)
            for flush in flushes { flush(failure.map { .failure($0) } ?? .success(())) }
            if isClosing { break }
            if failure != nil {
                _ = bell.wait(timeout: .now() + Self.patience)
                continue
            }
            logger.whenThereIs(row: next, for: waiter) { [bell] in bell.signal() }
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
    private func catchUp(_ next: inout UInt64, _ writer: ArchiveWriter) -> CourierError? {
        let end = logger.summary.nextRow
        while next < end {
            var records: [PacketRecord] = []
            var position = next
            while records.count < Self.batch, position < end {
                let part = logger.records(from: position)
                guard let last = part.last else {
                    position = end
                    break
                }
                records += part
                position = last.number + 1
            }
            do throws(SQLiteFailure) {
                if !records.isEmpty { try writer.write(records, now: Date()) }
            } catch {
                return failed(error, writer)
            }
            let missed = position - next - UInt64(records.count)
            next = position
            inbox.withLock { inbox in
                inbox.status.writtenRows += UInt64(records.count)
                inbox.status.missedRows += missed
                inbox.status.failure = nil
            }
        }
        return nil
    }

    /// Notes a failure; a file that turned out to be damaged is replaced, and its rows are tried again.
    private func failed(_ failure: SQLiteFailure, _ writer: ArchiveWriter) -> CourierError {
        var error = failure.archiveError(writer.files.path)
        if failure.isDamage {
            do throws(CourierError) {
                let setAside = try writer.replace(damagedBy: failure)
                inbox.withLock { $0.status.setAside = setAside }
            } catch let other {
                error = other
            }
        }
        inbox.withLock { $0.status.failure = error }
        return error
    }
}
