#if canImport(Glibc)
    import CLinux
    import Glibc
#elseif canImport(Musl)
    import CLinux
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// Identifies the state of a file or folder without reading it. A file that was replaced or changed has another stamp.
package struct FileStamp: Hashable, Sendable {
    private let device: UInt64
    private let inode: UInt64
    private let size: Int64
    /// The times of the last change of the contents and of the last change of the file's attributes, in seconds and
    /// nanoseconds.
    private let times: [Int]

    /// Creates the stamp of the file at `path`, following links; `nil` if the file cannot be examined, for example
    /// because it does not exist.
    package init?(path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        device = UInt64(status.st_dev)
        inode = UInt64(status.st_ino)
        size = Int64(status.st_size)
        #if canImport(Darwin)
            let (modified, changed) = (status.st_mtimespec, status.st_ctimespec)
        #else
            let (modified, changed) = (status.st_mtim, status.st_ctim)
        #endif
        times = [modified.tv_sec, modified.tv_nsec, changed.tv_sec, changed.tv_nsec]
    }
}
