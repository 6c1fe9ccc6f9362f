import Glibc

/// What tells a file, or a folder, from one that has taken its place or was written since, without reading it.
package struct FileStamp: Hashable, Sendable {
    private let device: UInt64
    private let inode: UInt64
    private let size: Int64
    /// When its contents, and when anything about it changed, in seconds and nanoseconds.
    private let times: [Int]

    /// The stamp of the file that `path` leads to; `nil` when there is none that can be looked at.
    package init?(path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        device = UInt64(status.st_dev)
        inode = UInt64(status.st_ino)
        size = Int64(status.st_size)
        times = [status.st_mtim.tv_sec, status.st_mtim.tv_nsec, status.st_ctim.tv_sec, status.st_ctim.tv_nsec]
    }
}
