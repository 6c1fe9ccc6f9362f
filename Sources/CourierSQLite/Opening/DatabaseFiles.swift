package import CourierCore
package import Foundation

/// The paths of a database's files, with operations such as creating and renaming.
package struct DatabaseFiles: Sendable {
    /// The purpose of the database, as messages name it.
    package enum Purpose: String, Sendable {
        case messageStore = "message store"
        case archive
    }

    private let purpose: Purpose

    /// The database. Symbolic links of its folder are resolved, so that one file has one name.
    package let path: String

    var log: String { path + "-wal" }
    var index: String { path + "-shm" }
    private var journal: String { path + "-journal" }
    /// The lock file, which the process that writes the database has locked.
    package var lock: String { path + ".lock" }

    /// Its name in messages.
    var name: String { "\(purpose.rawValue) \(path)" }

    /// Makes the folder, for this user only, if it is missing.
    package init(_ purpose: Purpose, at url: URL) throws(CourierError) {
        guard url.isFileURL, !url.lastPathComponent.isEmpty else {
            throw CourierError(
                .invalidConfiguration,
                "The \(purpose.rawValue) needs the URL of a file; \(url.absoluteString.quoted()) is none.")
        }
        let folder = url.deletingLastPathComponent()
        try PrivateFile.makeFolder(folder.path)
        self.purpose = purpose
        // The last component is not resolved: a symbolic link there is refused.
        let resolved = folder.resolvingSymlinksInPath().appendingPathComponent(url.lastPathComponent)
        path = resolved.standardizedFileURL.path
        var isFolder: ObjCBool = false
        if FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), isFolder.boolValue {
            throw CourierError(.storeFailed, "The \(name) is a folder. Name a file in it, or another file.")
        }
    }

    /// Creates the database and its lock file if they are missing, and restricts all files of the database to this user.
    ///
    /// SQLite creates its further files with the permissions of the database.
    ///
    /// - Throws: `storeFull` or `storeFailed`, such as for a symbolic link or a file of another user.
    package func prepare() throws(CourierError) {
        try PrivateFile.prepare(path)
        try prepareLock()
        try restrict()
    }

    /// Creates the lock file if it is missing, and restricts it to this user.
    package func prepareLock() throws(CourierError) { try PrivateFile.prepare(lock) }

    /// Restricts the existing files of the database to this user.
    ///
    /// - Throws: `storeFailed` if one is a symbolic link or belongs to another user: another user could have created a
    ///   log here before SQLite did, to read what SQLite writes.
    package func restrict() throws(CourierError) {
        for file in [path, log, index, journal, lock] { try PrivateFile.restrictIfPresent(file) }
    }

    /// Gives the database and its log other names.
    ///
    /// The log goes first: left behind, it would be taken for that of a new file.
    ///
    /// - Returns: Where the database is now.
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
                "The damaged \(name) can not be set aside. See that this user may write to its folder.", cause: error)
        }
        return aside
    }
}
