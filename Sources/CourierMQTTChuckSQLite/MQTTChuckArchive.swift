public import CourierMQTTChuck
import CourierSQLite
public import Foundation

/// Writes the rows of a logger to a file. The packets can thus be inspected after the program has ended, even after a
/// crash.
///
/// ```swift
/// let logger = MQTTChuckLogger()
/// let archive = try MQTTChuckArchive(of: logger, at: url)
///
/// // Afterwards, in this process or another one:
/// let recorded = try MQTTChuckArchive.logger(of: url)
/// print(recorded.rows(matching: try MQTTChuckQuery("errors")).rows)
/// ```
///
/// A thread of the archive writes new rows in batches, ``defaultInterval`` after the first new row. It does not delay
/// clients. Until rows are written, only the logger holds them. If the logger drops a row before it is written, for
/// example because the disk is too slow, the row is missing in the file. ``Status/missedRows`` counts such rows.
/// Clearing the logger removes nothing from the file.
///
/// Written rows survive a crash of the process, even `SIGKILL`. A power failure can lose the last seconds. If the file
/// is opened again later, new rows are added after the existing rows, within the limits of ``Retention``. Only the
/// current user can read the file. It contains no secrets, because the logger overwrites secrets before it stores a
/// packet.
///
/// The archive works until ``close()`` is called or its last reference is released.
public final class MQTTChuckArchive: Sendable {
    /// The time for which rows are collected before they are written: 100 ms. So a crash can lose the rows that were
    /// recorded within this time.
    public static let defaultInterval = Duration.milliseconds(100)

    /// The location of the file. Symbolic links are resolved.
    public let url: URL

    private let thread: ArchiveThread

    /// Opens or creates the file, and writes the rows that the logger holds and will record.
    ///
    /// A file that is damaged or not an archive is renamed, and a new file is created; see ``Status/quarantinedFile``.
    ///
    /// - Parameters:
    ///   - logger: The logger with the rows to write.
    ///   - url: The file. A missing folder is created with permissions for this user only.
    ///   - retention: The limits for the rows in the file.
    ///   - interval: The time for which rows are collected before they are written.
    /// - Throws: ``CourierCore/CourierError`` with the code `storeInUse` if another archive writes the file. The code
    ///   is `storeFailed`, `storeFull` or `invalidConfiguration` if the file cannot be created or opened.
    public convenience init(
        of logger: MQTTChuckLogger, at url: URL, retention: Retention = .default,
        interval: Duration = MQTTChuckArchive.defaultInterval
    ) throws {
        try self.init(of: logger, at: url, retention: retention, interval: interval, system: nil)
    }

    /// Opens an archive with the VFS (the file layer of SQLite) of this name. `patience` is the delay before a failed
    /// write is tried again.
    init(
        of logger: MQTTChuckLogger, at url: URL, retention: Retention = .default,
        interval: Duration = MQTTChuckArchive.defaultInterval, system: String?, patience: Duration = .seconds(1)
    ) throws {
        let files = try DatabaseFiles(.archive, at: url)
        self.url = URL(fileURLWithPath: files.path)
        let opened = try ArchiveWriter.open(files, retention, system: system)
        thread = ArchiveThread(
            opened.writer, logger, interval: interval, patience: patience,
            Status(quarantinedFile: opened.quarantinedFile))
        thread.start()
    }

    deinit { thread.close {} }

    /// The state of the archive: its counts, its current failure, and a file that it replaced.
    public var status: Status { thread.status }

    /// Writes all rows recorded so far, and returns when they are in the file.
    ///
    /// - Throws: ``CourierCore/CourierError`` if the rows cannot be written. The archive tries again later.
    public func flush() async throws {
        try await withCheckedThrowingContinuation { continuation in
            thread.flush { continuation.resume(with: $0) }
        }
    }

    /// Writes all rows recorded so far, and closes the file. The logger continues without the archive.
    public func close() async {
        await withCheckedContinuation { continuation in thread.close { continuation.resume() } }
    }
}
