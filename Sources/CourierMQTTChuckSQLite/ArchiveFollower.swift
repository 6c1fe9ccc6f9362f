package import CourierCore
package import CourierMQTTChuck
package import Foundation

/// Reads an archive into a logger, and adds the new rows of the file on each call of `catchUp()`.
///
/// The file is not changed. Rows that are removed from the file remain in the logger, within the logger's own limits.
/// Only one thread may use this object at a time.
package final class ArchiveFollower {
    /// The logger with all rows that were read so far.
    package let logger: MQTTChuckLogger
    private let reader: ArchiveReader
    private var restoring: PacketRestoring
    private var last = Int64.min
    private var version: Int64?

    /// Opens an archive and reads all rows that the file has now.
    ///
    /// - Parameters:
    ///   - url: The archive file.
    ///   - options: The options of the logger, such as the display of payloads. Its limits are increased if the rows of
    ///     the file need more.
    /// - Throws: ``CourierCore/CourierError`` with the code `storeDamaged` if the file is damaged or not an archive, or
    ///   `storeFailed` if it cannot be read.
    package init(_ url: URL, options: MQTTChuckOptions = MQTTChuckOptions()) throws(CourierError) {
        reader = try ArchiveReader(url)
        logger = MQTTChuckLogger(options: try reader.options(options))
        restoring = PacketRestoring(logger)
        try catchUp()
    }

    /// Adds the rows that were written to the file since the last call. Takes microseconds if there are no new rows.
    ///
    /// - Returns: The number of added packets.
    /// - Throws: The same errors as ``init(_:options:)``.
    @discardableResult
    package func catchUp() throws(CourierError) -> Int {
        let now = try reader.version()
        if now == version { return 0 }
        let before = restoring.count
        try reader.read(into: &restoring, behind: &last)
        version = now
        return restoring.count - before
    }
}
