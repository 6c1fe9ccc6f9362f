#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// The kind, size and identity of a file.
struct FileStatus {
    private let status: stat

    /// Reads the status of the file at a path, or of the file that a symbolic link names.
    init(path: String) throws(SystemError) {
        var status = stat()
        guard stat(path, &status) == 0 else { throw SystemError.last }
        self.status = status
    }

    /// Reads the status of an open file.
    init(descriptor: Int32) throws(SystemError) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw SystemError.last }
        self.status = status
    }

    /// True for a regular file; false for a device, a pipe or a folder, for example.
    var isRegular: Bool { status.st_mode & S_IFMT == S_IFREG }

    /// Returns whether both values describe the same file, perhaps under different names.
    func isSameFile(as other: FileStatus) -> Bool {
        status.st_dev == other.status.st_dev && status.st_ino == other.status.st_ino
    }

    /// Returns the size of the unread contents of an open file in bytes; `nil` if the file is not a regular file.
    static func unreadSize(of descriptor: Int32) -> Int? {
        guard let file = try? FileStatus(descriptor: descriptor), file.isRegular else { return nil }
        return max(0, Int(file.status.st_size) - max(0, Int(lseek(descriptor, 0, SEEK_CUR))))
    }

    // MARK: Names

    static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

    /// Checks whether the process may write to a file or folder.
    static func checkWritable(_ path: String) throws(SystemError) {
        guard access(path, W_OK) == 0 else { throw SystemError.last }
    }

    /// Removes the file at a path. A failure is ignored.
    static func remove(_ path: String) { unlink(path) }
}
