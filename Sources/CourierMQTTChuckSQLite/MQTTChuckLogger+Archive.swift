import CourierCore
public import CourierMQTTChuck
import CourierSQLite
public import Foundation

extension MQTTChuckArchive {
    /// Opens an archive for reading. Its rows can be searched, exported, replayed and shown on the web page.
    ///
    /// The file is read once and not changed, so another archive may still write it. All rows are read, even if
    /// `options` has lower limits for rows and bytes.
    ///
    /// - Parameters:
    ///   - url: The archive file.
    ///   - options: How payloads are shown, and further redaction rules.
    /// - Returns: A logger with the rows, under the same row numbers as in the file.
    /// - Throws: ``CourierCore/CourierError`` with the code `storeDamaged` if the file is damaged or not an archive, or
    ///   `storeFailed` if it cannot be read.
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
    /// Adds the packets of an archive file after the existing rows.
    ///
    /// The limits and redaction rules of this logger apply, and its metrics count the added packets. If a packet cannot
    /// be read, the packets before it remain added. The file is not changed.
    ///
    /// - Parameter url: The archive file.
    /// - Returns: The number of added packets.
    /// - Throws: ``CourierCore/CourierError`` with the code `storeDamaged` if the file is damaged or not an archive, or
    ///   `storeFailed` if it cannot be read.
    @discardableResult
    public func importArchive(at url: URL) throws -> Int { try ArchiveReader(url).read(into: self) }
}
