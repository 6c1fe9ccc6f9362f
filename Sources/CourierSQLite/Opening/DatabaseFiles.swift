package import CourierCore
package import Foundation

/// The names of a database's files, and what is done to the files as such.
package struct DatabaseFiles: Sendable {
    /// What the database is to its user.
    package enum Purpose: String, Sendable {
        case messageStore = "message store"
        case archive
    }

    private static let privateFile = 0o600
    private static let privateFolder = 0o700

    private let purpose: Purpose

    /// The database. Symbolic links are resolved, so that one file has one name.
    package let path: String

    var log: String { path + "-wal" }
    var index: String { path + "-shm" }
    /// Held by whoever writes the database.
    package var lock: String { path + ".lock" }

    /// What messages call it.
    var name: String { "\(purpose.rawValue) \(path)" }

    /// Makes the folder, for this user only, if it is missing.
    package init(_ purpose: Purpose, at url: URL) throws(CourierError) {
        guard url.isFileURL, !url.lastPathComponent.isEmpty else {
            throw CourierError(
                .invalidConfiguration,
                "The \(purpose.rawValue) needs the URL of a file; \(url.absoluteString.quoted()) is none.")
        }
        let folder = url.deletingLastPathComponent()
        do {
            try FileManager.default.createDirectory(
                at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: Self.privateFolder])
        } catch {
            throw CourierError(
                .storeFailed,
                "The folder \(folder.path) of the \(purpose.rawValue) can not be made. Choose a folder that this user "
                    + "may write to.", cause: error)
        }
        let isThere = FileManager.default.fileExists(atPath: url.path)
        let resolved =
            isThere
            ? url.resolvingSymlinksInPath()
            : folder.resolvingSymlinksInPath().appendingPathComponent(url.lastPathComponent)
        self.purpose = purpose
        path = resolved.standardizedFileURL.path
        var isFolder: ObjCBool = false
        if FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), isFolder.boolValue {
            throw CourierError(.storeFailed, "The \(name) is a folder. Name a file in it, or another file.")
        }
    }

    /// Makes what is missing of the database and the lock, which nobody but this user can read from the beginning.
    package func make() throws(CourierError) {
        for file in [path, lock] {
            guard makePrivate(file) else {
                throw CourierError(
                    .storeFailed, "The \(name) can not be made. Choose a folder that this user may write to.")
            }
        }
    }

    /// Makes a file if it is missing, which nobody but this user can read from the beginning; SQLite gives the log
    /// beside it the same permissions.
    ///
    /// - Returns: Whether the file is there.
    @discardableResult
    func makePrivate(_ file: String) -> Bool {
        FileManager.default.fileExists(atPath: file)
            || FileManager.default.createFile(
                atPath: file, contents: nil, attributes: [.posixPermissions: Self.privateFile])
    }

    /// Lets nobody but this user read the database and what stands beside it; SQLite gives later files the same
    /// permissions.
    package func protect() throws(CourierError) {
        for file in [path, log, index, lock] where FileManager.default.fileExists(atPath: file) { try protect(file) }
    }

    func protect(_ file: String) throws(CourierError) {
        do {
            try FileManager.default.setAttributes([.posixPermissions: Self.privateFile], ofItemAtPath: file)
        } catch {
            throw CourierError(
                .storeFailed,
                "The file \(file) of the \(purpose.rawValue) can not be made private to this user. See who owns it.",
                cause: error)
        }
    }

    /// Gives the database and its log other names.
    ///
    /// The log goes first: left behind, it would be taken for that of a new file.
    ///
    /// - Returns: Where the database is now.
    package func setAside() throws(CourierError) -> String {
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
