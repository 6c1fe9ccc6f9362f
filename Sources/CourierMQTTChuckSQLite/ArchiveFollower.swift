package import CourierCore
package import CourierMQTTChuck
package import Foundation

/// Reads an archive into a logger, and what a program adds to it meanwhile, whenever it is asked to.
///
/// The file is not changed. Rows that leave the file stay in the logger, within the logger's own limits. Used by one thread at
/// a time.
package final class ArchiveFollower {
    /// What was read so far.
    package let logger: MQTTChuckLogger
    private let reader: ArchiveReader
    private var restoring: PacketRestoring
    private var last = Int64.min
    private var version: Int64?

    /// Reads all that the file has now.
    ///
    /// - Parameters:
    ///   - url: The file.
    ///   - options: How payloads are shown, and the least that the logger has room for.
    /// - Throws: ``CourierCore/CourierError`` with the code `storeDamaged` when the file is no archive or damaged,
    ///   `storeFailed` when it cannot be read.
    package init(_ url: URL, options: MQTTChuckOptions = MQTTChuckOptions()) throws(CourierError) {
        reader = try ArchiveReader(url)
        logger = MQTTChuckLogger(options: try reader.options(options))
        restoring = PacketRestoring(logger)
        try catchUp()
    }

    /// Adds what has come into the file since the last time; takes microseconds when nothing has.
    ///
    /// - Returns: How many packets were added.
    /// - Throws: What ``init(_:options:)`` throws.
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
