import CourierCore
public import CourierMQTTChuck
import CourierSQLite
public import Foundation

extension MQTTChuckArchive {
    /// Opens an archive to look at: what was written can be searched, exported, replayed and shown on the page.
    ///
    /// The file is read once and not changed, so it may be one that is still written. All of it is read, whatever
    /// limits of rows and bytes `options` have.
    ///
    /// - Parameters:
    ///   - url: The file.
    ///   - options: How payloads are shown and what is hidden beside what was hidden already.
    /// - Returns: A logger with the rows under the numbers that they have in the file.
    /// - Throws: ``CourierCore/CourierError`` with the code `storeDamaged` when the file is no archive or damaged,
    ///   `storeFailed` when it cannot be read.
    public static func logger(
        of url: URL, options: MQTTChuckOptions = MQTTChuckOptions()
    ) throws -> MQTTChuckLogger {
        let reader = try ArchiveReader(url)
        let logger = MQTTChuckLogger(options: try reader.options(options))
        try reader.read(into: logger)
        return logger
    }
}

extension MQTTChuckLogger {
    /// Adds the packets of an archive, behind those that are there.
    ///
    /// The limits and redaction rules of this logger apply, and its metrics count what is added. Packets before one that
    /// cannot be read stay added. The file is not changed.
    ///
    /// - Parameter url: The file.
    /// - Returns: How many packets were added.
    /// - Throws: ``CourierCore/CourierError`` with the code `storeDamaged` when the file is no archive or damaged,
    ///   `storeFailed` when it cannot be read.
    @discardableResult
    public func importArchive(at url: URL) throws -> Int { try ArchiveReader(url).read(into: self) }
}
