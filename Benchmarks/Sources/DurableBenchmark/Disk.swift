import BenchmarkHarness
import Foundation
import Glibc

/// Measures the disk without a database: the number of 8 KiB writes with a flush per second.
enum Disk {
    /// Measures in `folder` for this time.
    static func flushesPerSecond(in folder: URL, for time: Duration = .milliseconds(300)) throws -> Double {
        let path = folder.appendingPathComponent("flushes").path
        let file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw Failure("no file \(path): \(String(cString: strerror(errno)))") }
        defer {
            close(file)
            unlink(path)
        }
        // Like a log file that is reused: the space is allocated before, and the file size does not change.
        let (block, blocks) = ([UInt8](repeating: 1, count: 8 << 10), 1_024)
        for _ in 0..<blocks { guard write(file, block, block.count) == block.count else { throw failure(path) } }
        guard fsync(file) == 0 else { throw failure(path) }
        let start = ContinuousClock.now
        var count = 0
        while ContinuousClock.now - start < time {
            let place = off_t(count % blocks * block.count)
            guard pwrite(file, block, block.count, place) == block.count, fdatasync(file) == 0 else {
                throw failure(path)
            }
            count += 1
        }
        return Double(count) / ((ContinuousClock.now - start) / .seconds(1))
    }

    private static func failure(_ path: String) -> Failure {
        Failure("cannot write \(path): \(String(cString: strerror(errno)))")
    }
}

/// A new folder that is deleted when this value is released.
struct ScratchFolder: ~Copyable {
    let url: URL

    /// Creates the folder in `parent`.
    init(in parent: URL) throws {
        url = parent.appendingPathComponent("courier-durable-\(UUID().uuidString)", isDirectory: true)
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }
}

/// Finds the file system type of a folder. Results from a file system in memory say nothing about a disk.
enum FileSystem {
    /// Returns the type of the file system with the longest mount point above the folder.
    static func kind(of folder: URL) -> String {
        let mounts = (try? String(contentsOfFile: "/proc/self/mounts", encoding: .utf8)) ?? ""
        let path = folder.resolvingSymlinksInPath().path + "/"
        var (kind, length) = ("an unknown file system", 0)
        for line in mounts.split(separator: "\n") {
            let fields = line.split(separator: " ")
            guard fields.count > 2 else { continue }
            let point = fields[1] == "/" ? "/" : fields[1] + "/"
            if path.hasPrefix(point), point.count >= length { (kind, length) = (String(fields[2]), point.count) }
        }
        return kind
    }
}
