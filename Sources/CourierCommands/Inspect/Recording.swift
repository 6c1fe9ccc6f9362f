import CommandArguments
import CourierCore
import CourierMQTTChuck
import CourierMQTTChuckSQLite
import Dispatch
import Foundation
import Synchronization

/// A file of recorded packets: JSON Lines, or an archive that another program may still write to.
final class Recording: Sendable {
    /// The first bytes of every SQLite file.
    private static let databaseMark = Array("SQLite format 3\0".utf8)
    /// An upper limit of the memory that a row needs in addition to its bytes.
    private static let rowOverhead = 512
    /// The interval at which an archive is checked for changes. The file itself is not watched, because SQLite writes
    /// to a separate log file. Watching the folder would report unrelated changes. A check reads only a few bytes.
    private static let interval = DispatchTimeInterval.seconds(1)

    /// The state of an archive that may still grow.
    private struct Following {
        let follower: ArchiveFollower
        var timer: (any DispatchSourceTimer)?
    }

    /// The packets that have been read from the file.
    let logger: MQTTChuckLogger
    /// True if the file is an archive, because more rows may be added to it.
    let isFollowed: Bool
    private let following: Mutex<Following?>
    private let queue = DispatchQueue(label: "courier.recording")

    /// Reads the whole file. The age and size limits of the logger are raised, so that no packet is dropped.
    ///
    /// - Parameter path: The path of the file.
    /// - Throws: An error if the file does not exist or is not a recording.
    init(of path: String) throws {
        let url = URL(fileURLWithPath: path)
        var options = MQTTChuckOptions()
        options.logsMaxAge = nil
        guard FileManager.default.fileExists(atPath: path) else {
            throw ArgumentError("The file \(path) does not exist.")
        }
        let data: Data
        do {
            let file = try FileHandle(forReadingFrom: url)
            defer { try? file.close() }
            let beginning = try file.read(upToCount: Self.databaseMark.count) ?? Data()
            if beginning == Data(Self.databaseMark) {
                let follower = try ArchiveFollower(url, options: options)
                logger = follower.logger
                isFollowed = true
                following = Mutex(Following(follower: follower))
                return
            }
            if Self.isRegular(file) {
                data = try Data(contentsOf: url, options: .mappedIfSafe)
            } else {
                data = try beginning + (file.readToEnd() ?? Data())
            }
        } catch let error as CocoaError {
            throw ArgumentError("\(path) cannot be read: \(error.localizedDescription)")
        }
        isFollowed = false
        following = Mutex(nil)
        logger = try Self.logger(of: data, path, &options)
    }

    /// True if the file is a regular file, which can be read again from its beginning. False for a pipe, for example.
    private static func isRegular(_ file: FileHandle) -> Bool {
        (try? FileStatus(descriptor: file.fileDescriptor))?.isRegular == true
    }

    private static func logger(
        of data: Data, _ path: String, _ options: inout MQTTChuckOptions
    ) throws -> MQTTChuckLogger {
        let lines = data.split(separator: UInt8(ascii: "\n"))
        // The length of the longest line is a safe limit for the packet size, because a packet has fewer bytes than its
        // line has characters.
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

    // MARK: Following the file

    /// Adds new rows of the file to ``logger``, until ``stopFollowing()``.
    ///
    /// - Parameter changed: Called after rows were added, on a separate queue.
    func follow(_ changed: @escaping @Sendable () -> Void = {}) {
        following.withLock { following in
            guard following != nil, following?.timer == nil else { return }
            let timer = DispatchSource.makeTimerSource(queue: queue)
            timer.schedule(deadline: .now() + Self.interval, repeating: Self.interval)
            timer.setEventHandler { [weak self] in if self?.catchUp() == true { changed() } }
            timer.resume()
            following?.timer = timer
        }
    }

    /// Reads new rows. Returns true if there were any.
    private func catchUp() -> Bool {
        // If the file cannot be read now, the error is ignored, because a later attempt may succeed. The earlier rows
        // remain.
        following.withLock { ((try? $0?.follower.catchUp()) ?? 0) > 0 }
    }

    /// Stops adding rows. After this call, the closure of ``follow(_:)`` is not called again.
    func stopFollowing() {
        following.withLock { following in
            following?.timer?.cancel()
            following?.timer = nil
        }
        queue.sync {}  // Waits until a running call of the closure has ended.
    }
}
