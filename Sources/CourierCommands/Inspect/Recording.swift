import CommandArguments
import CourierMQTTChuck
import CourierMQTTChuckSQLite
import Foundation

/// A file of recorded packets: JSON Lines, or an archive.
enum Recording {
    /// What every file of SQLite begins with.
    private static let databaseMark = Array("SQLite format 3\0".utf8)
    /// More than a row takes in memory beside its bytes.
    private static let rowOverhead = 512

    /// Reads all of a file, however old and however large.
    static func logger(of path: String) throws -> MQTTChuckLogger {
        let url = URL(fileURLWithPath: path)
        var options = MQTTChuckOptions()
        options.logsMaxAge = nil
        guard FileManager.default.fileExists(atPath: path) else { throw ArgumentError("There is no file \(path).") }
        let data: Data
        do {
            let file = try FileHandle(forReadingFrom: url)
            defer { try? file.close() }
            if try file.read(upToCount: databaseMark.count) == Data(databaseMark) {
                return try MQTTChuckArchive.logger(of: url, options: options)
            }
            data = try Data(contentsOf: url, options: .mappedIfSafe)
        } catch let error as CocoaError {
            throw ArgumentError("\(path) can not be read: \(error.localizedDescription)")
        }
        return try logger(of: data, path, &options)
    }

    private static func logger(
        of data: Data, _ path: String, _ options: inout MQTTChuckOptions
    ) throws -> MQTTChuckLogger {
        let lines = data.split(separator: UInt8(ascii: "\n"))
        // A line has more characters than its packet has bytes.
        options.logsMaxSize = max(options.logsMaxSize, lines.count)
        options.packetMaxSize = max(options.packetMaxSize, lines.lazy.map(\.count).max() ?? 0)
        options.logsMaxBytes = max(
            options.logsMaxBytes, data.count + lines.count * rowOverhead, options.packetMaxSize * 8)
        let logger = MQTTChuckLogger(options: options)
        do {
            try logger.importJSONLines(data)
        } catch let error as MQTTChuckImportError {
            throw ArgumentError(
                "\(path), \(error).", hint: "Give a recording as JSON Lines, or an archive of MQTTChuckArchive.")
        }
        return logger
    }
}
