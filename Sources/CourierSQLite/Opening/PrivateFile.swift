package import CourierCore
package import Foundation
import Synchronization

/// Files and folders that only the user of this process can read and write, from the moment of their creation.
///
/// The call that creates a file also sets its permissions, so that no other user can open the file before it is
/// private. The umask of the process stays unchanged, because it belongs to the app and applies to all threads.
package enum PrivateFile {
    private static let filePermissions: mode_t = 0o600
    private static let folderPermissions: mode_t = 0o700
    private static let permissionBits: mode_t = 0o7777

    /// Allows only one thread at a time to create a file.
    ///
    /// Creating a file includes closing its descriptor, which releases all locks of this process on the file. If
    /// another thread locked the new file before the descriptor is closed, the thread would lose its lock.
    private static let creation = Mutex(())

    /// Creates the file with the permissions 0600 if it is missing, and restricts an existing file to 0600.
    ///
    /// An existing file is never opened: closing the descriptor would release the locks that SQLite holds on the file
    /// in this process (POSIX `fcntl`).
    ///
    /// - Throws: `storeFull` if the disk has no room. `storeFailed` if the file cannot be created, is a symbolic link,
    ///   is not a regular file, or belongs to another user.
    package static func prepare(_ path: String) throws(CourierError) {
        if try create(path) { return }
        _ = try restrictIfPresent(path)
    }

    /// Restricts the file to the permissions 0600 if it exists.
    ///
    /// - Returns: True if the file exists.
    /// - Throws: `storeFailed` if the file is a symbolic link, is not a regular file, or belongs to another user.
    @discardableResult
    package static func restrictIfPresent(_ path: String) throws(CourierError) -> Bool {
        guard let found = try status(of: path) else { return false }
        try check(found, path)
        guard found.st_mode & permissionBits != filePermissions else { return true }
        guard fchmodat(AT_FDCWD, path, filePermissions, AT_SYMLINK_NOFOLLOW) == 0 else {
            throw failure("The permissions of \(path) cannot be set to 600", "Run: chmod 600 \(path)")
        }
        // Check the file again, because another process may have replaced it after the first check.
        guard let restricted = try status(of: path) else { return false }
        try check(restricted, path)
        return true
    }

    /// Opens a private file for writing, and creates the file if it is missing. The contents of an existing file
    /// remain.
    ///
    /// - Parameter path: The file. It must not be a file that SQLite has open in this process, see ``prepare(_:)``.
    /// - Returns: The open file, which is closed with the object.
    /// - Throws: The errors of ``prepare(_:)``.
    package static func open(_ path: String) throws(CourierError) -> FileHandle {
        try prepare(path)
        let descriptor = Foundation.open(path, O_WRONLY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw failure("The file \(path) cannot be opened", "Choose a file that this user may write.")
        }
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        // Check the open file again, because another process may have replaced the file after it was prepared.
        var found = stat()
        guard fstat(descriptor, &found) == 0 else {
            throw failure("The file \(path) cannot be examined", "Choose another file.")
        }
        try check(found, path)
        guard found.st_mode & permissionBits == filePermissions else {
            throw CourierError(
                .storeFailed,
                "Another process replaced the file \(path) while it was opened. "
                    + "Choose a folder to which only this user may write.")
        }
        return handle
    }

    /// Creates the folder and its missing parents with the permissions 0700. An existing folder keeps its permissions.
    ///
    /// - Throws: `storeFull` if the disk has no room, `storeFailed` if the folder cannot be created.
    package static func makeFolder(_ path: String) throws(CourierError) {
        if mkdir(path, folderPermissions) == 0 { return }
        let parent = URL(fileURLWithPath: path).deletingLastPathComponent().path
        if errno == ENOENT, parent != path {
            try makeFolder(parent)
            if mkdir(path, folderPermissions) == 0 { return }
        }
        let number = errno
        var found = stat()
        if number == EEXIST, stat(path, &found) == 0, found.st_mode & S_IFMT == S_IFDIR { return }
        errno = number
        throw failure("The folder \(path) cannot be created", "Choose a folder that this user may write to.")
    }

    // MARK: Creating and checking one file

    /// Creates the file if it is missing.
    ///
    /// - Returns: True if this call created the file; `false` if the file already exists.
    private static func create(_ path: String) throws(CourierError) -> Bool {
        let number = creation.withLock { _ -> Int32 in
            let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
            let descriptor = Foundation.open(path, flags, filePermissions)
            guard descriptor >= 0 else { return errno }
            defer { close(descriptor) }
            // Set the permissions explicitly, because a umask such as 0777 also removes the permissions of this user.
            return fchmod(descriptor, filePermissions) == 0 ? 0 : errno
        }
        if number == 0 { return true }
        if number == EEXIST { return false }
        errno = number
        throw failure("The file \(path) cannot be created", "Choose a folder that this user may write to.")
    }

    /// The status of the file itself; `nil` if there is no file. For a symbolic link, this is the status of the link.
    private static func status(of path: String) throws(CourierError) -> stat? {
        var found = stat()
        if lstat(path, &found) == 0 { return found }
        if errno == ENOENT { return nil }
        throw failure("The file \(path) cannot be examined", "Choose a folder that this user may read.")
    }

    private static func check(_ found: stat, _ path: String) throws(CourierError) {
        switch found.st_mode & S_IFMT {
        case S_IFREG: break
        case S_IFLNK:
            throw CourierError(
                .storeFailed,
                "The file \(path) is a symbolic link, so private data could be written to another file. "
                    + "Specify the link's target instead, or remove the link.")
        case S_IFDIR:
            throw CourierError(
                .storeFailed, "\(path) is a folder. Specify a file, for example a file in this folder.")
        default:
            throw CourierError(.storeFailed, "\(path) is not a regular file. Name another file, or remove it.")
        }
        guard found.st_uid == geteuid() else {
            throw CourierError(
                .storeFailed,
                "The file \(path) belongs to user \(found.st_uid), but this process runs as user \(geteuid()). "
                    + "Remove the file, name another file, or run the process as the file's owner.")
        }
    }

    /// Returns the error for the system's current error number.
    private static func failure(_ event: String, _ remedy: String) -> CourierError {
        let number = errno
        let isFull = number == ENOSPC || number == EDQUOT
        return CourierError(
            isFull ? .storeFull : .storeFailed,
            "\(event): \(String(cString: strerror(number))). \(isFull ? "Free some space." : remedy)")
    }
}
