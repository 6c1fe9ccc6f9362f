package import CourierCore
package import Foundation

/// The paths of a database's files, with functions to create, restrict and rename the files.
package struct DatabaseFiles: Sendable {
    /// The purpose of the database, used in error messages.
    package enum Purpose: String, Sendable {
        case messageStore = "message store"
        case archive
    }

    private let purpose: Purpose

    /// The path of the database. Symbolic links in the path of its folder are resolved, so that each file has only one
    /// path.
    package let path: String

    var log: String { path + "-wal" }
    var index: String { path + "-shm" }
    private var journal: String { path + "-journal" }
    /// The path of the lock file. The process that writes the database holds a lock on this file.
    package var lock: String { path + ".lock" }

    /// The name of the database in error messages.
    var name: String { "\(purpose.rawValue) \(path)" }

    /// Creates the database's folder if it is missing. Only this user can access a new folder.
    package init(_ purpose: Purpose, at url: URL) throws(CourierError) {
        guard url.isFileURL, !url.lastPathComponent.isEmpty else {
            throw CourierError(
                .invalidConfiguration,
                "The \(purpose.rawValue) needs a file URL; \(url.absoluteString.quoted()) is not a file URL.")
        }
        let folder = url.deletingLastPathComponent()
        try PrivateFile.makeFolder(folder.path)
        self.purpose = purpose
        // Do not resolve the last component of the path, because a symbolic link in this position is refused.
        let resolved = folder.resolvingSymlinksInPath().appendingPathComponent(url.lastPathComponent)
        path = resolved.standardizedFileURL.path
        var isFolder: ObjCBool = false
        if FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), isFolder.boolValue {
            throw CourierError(
                .storeFailed, "The \(name) is a folder. Specify a file, for example a file in this folder.")
        }
    }

    /// Creates the database and its lock file if they are missing, and restricts all files of the database to this
    /// user.
    ///
    /// SQLite creates the log and its index with the permissions of the database.
    ///
    /// - Throws: `storeFull` or `storeFailed`, for example if a file is a symbolic link or belongs to another user.
    package func prepare() throws(CourierError) {
        try PrivateFile.prepare(path)
        try prepareLock()
        try restrict()
    }

    /// Creates the lock file if it is missing, and restricts it to this user.
    package func prepareLock() throws(CourierError) { try PrivateFile.prepare(lock) }

    /// Restricts the existing files of the database to this user.
    ///
    /// - Throws: `storeFailed` if a file is a symbolic link or belongs to another user. This check is needed, because
    ///   another user could create the log before SQLite creates it, to read the data that SQLite writes.
    package func restrict() throws(CourierError) {
        for file in [path, log, index, journal, lock] { try PrivateFile.restrictIfPresent(file) }
    }

    /// Renames the database and its log, so that a new database can be created.
    ///
    /// The log is renamed first. If the log remained, SQLite would use it as the log of the new database.
    ///
    /// - Returns: The new path of the database.
    package func quarantine() throws(CourierError) -> String {
        let manager = FileManager.default
        var number = 1
        while manager.fileExists(atPath: "\(path).damaged-\(number)") { number += 1 }
        let aside = "\(path).damaged-\(number)"
        do {
            if manager.fileExists(atPath: log) {
                try? manager.removeItem(atPath: aside + "-wal")
                try manager.moveItem(atPath: log, toPath: aside + "-wal")
            }
            try? manager.removeItem(atPath: index)
            if manager.fileExists(atPath: path) { try manager.moveItem(atPath: path, toPath: aside) }
        } catch {
            throw CourierError(
                .storeFailed,
                "The damaged \(name) cannot be renamed. Give this user write access to its folder.", cause: error)
        }
        return aside
    }
}
