public import CourierMQTTChuck
import CourierSQLite
public import Foundation

/// Writes what a logger records into a file, so that the packets of a run can be looked at when it is over, however it
/// ended.
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
/// A thread of its own takes new rows out of the logger and writes them together, ``defaultInterval`` after the first of
/// them; clients notice nothing of it. What waits to be written is what the logger keeps anyway: rows that leave the
/// logger before their turn, because they come faster than the disk takes them, are missing in the file and counted in
/// ``Status/missedRows``. Clearing the logger takes nothing from the file.
///
/// What was written is there after a crash of the process, `SIGKILL` included; a power cut can take the last seconds. One
/// file takes one run after the other and has room for as much as ``Retention`` says. Nobody but the user can read it,
/// and secrets are not in it: the logger overwrites them before it keeps anything.
///
/// It works until ``close()`` is called or the last reference to it is gone.
public final class MQTTChuckArchive: Sendable {
    /// How long rows gather before they are written: 100 ms. A crash takes at most these.
    public static let defaultInterval = Duration.milliseconds(100)

    /// Where the file is; symbolic links are resolved.
    public let url: URL

    private let thread: ArchiveThread

    /// Opens the file, made when it is missing, and writes what the logger keeps and what it will record.
    ///
    /// A file that is no archive or is damaged is set aside under another name, see ``Status/quarantinedFile``.
    ///
    /// - Parameters:
    ///   - logger: Whose rows are written.
    ///   - url: The file. Its folder is made when it is missing, for this user only.
    ///   - retention: How much stays in the file.
    ///   - interval: How long rows gather before they are written.
    /// - Throws: ``CourierCore/CourierError`` with the code `storeInUse` when another archive writes the file, and
    ///   `storeFailed`, `storeFull` or `invalidConfiguration` when there can be no such file.
    public convenience init(
        of logger: MQTTChuckLogger, at url: URL, retention: Retention = .default,
        interval: Duration = MQTTChuckArchive.defaultInterval
    ) throws {
        try self.init(of: logger, at: url, retention: retention, interval: interval, system: nil)
    }

    /// The same on a VFS of SQLite with this name, and with another time after which it is tried again what has failed.
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

    /// How it goes.
    public var status: Status { thread.status }

    /// Writes what has been recorded so far, and returns when it is in the file.
    ///
    /// - Throws: ``CourierCore/CourierError`` when it cannot be written; the rows are tried again later.
    public func flush() async throws {
        try await withCheckedThrowingContinuation { continuation in
            thread.flush { continuation.resume(with: $0) }
        }
    }

    /// Writes what has been recorded so far, and closes the file. The logger continues without it.
    public func close() async {
        await withCheckedContinuation { continuation in thread.close { continuation.resume() } }
    }
}
