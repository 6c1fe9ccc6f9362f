import CourierCore
import Foundation

/// The names of an archive's files, and what is done to the files as such.
struct ArchiveFiles: Sendable {
    private static let privateFile = 0o600
    private static let privateFolder = 0o700

    /// The database. Symbolic links are resolved, so that one file has one name.
    let path: String

    /// Held by the archive that writes the file.
    var lock: String { path + ".lock" }

    /// Makes the folder if it is missing.
    init(at url: URL) throws(CourierError) {
        guard url.isFileURL, !url.lastPathComponent.isEmpty else {
            throw CourierError(
                .invalidConfiguration, "An archive needs the URL of a file; \(url.absoluteString.quoted()) is none.")
        }
        let folder = url.deletingLastPathComponent()
        do {
            try FileManager.default.createDirectory(
                at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: Self.privateFolder])
        } catch {
            throw CourierError(
                .storeFailed,
                "The folder \(folder.path) of the archive can not be made. Choose one that this user may write to.",
                cause: error)
        }
        let isThere = FileManager.default.fileExists(atPath: url.path)
        let resolved =
            isThere
            ? url.resolvingSymlinksInPath()
            : folder.resolvingSymlinksInPath().appendingPathComponent(url.lastPathComponent)
        path = resolved.standardizedFileURL.path
        var isFolder: ObjCBool = false
        if FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), isFolder.boolValue {
            throw CourierError(.storeFailed, "The archive \(path) is a folder. Name a file in it, or another file.")
        }
    }

    /// Makes files that are missing, and lets nobody but this user read any; SQLite gives what it puts beside the
    /// database the same permissions.
    func protect() throws(CourierError) {
        let manager = FileManager.default
        for file in [path, lock] where !manager.fileExists(atPath: file) {
            guard manager.createFile(atPath: file, contents: nil, attributes: [.posixPermissions: Self.privateFile])
            else {
                throw CourierError(
                    .storeFailed,
                    "The archive \(path) can not be made. Choose a folder that this user may write to.")
            }
        }
        for file in [path, lock, path + "-wal", path + "-shm"] where manager.fileExists(atPath: file) {
            do {
                try manager.setAttributes([.posixPermissions: Self.privateFile], ofItemAtPath: file)
            } catch {
                throw CourierError(
                    .storeFailed, "The file \(file) can not be made private to this user. See who owns it.",
                    cause: error)
            }
        }
    }

    /// Gives the database and its log other names, and makes an empty one.
    ///
    /// - Returns: Where it is now.
    func setAside() throws(CourierError) -> String {
        let manager = FileManager.default
        var number = 1
        while manager.fileExists(atPath: "\(path).damaged-\(number)") { number += 1 }
        let aside = "\(path).damaged-\(number)"
        do {
            // The log goes first: left behind, it would be taken for that of the new file.
            if manager.fileExists(atPath: path + "-wal") {
                try? manager.removeItem(atPath: aside + "-wal")
                try manager.moveItem(atPath: path + "-wal", toPath: aside + "-wal")
            }
            try? manager.removeItem(atPath: path + "-shm")
            try manager.moveItem(atPath: path, toPath: aside)
        } catch {
            throw CourierError(
                .storeFailed, "The file \(path) can not be set aside. See that this user may write to its folder.",
                cause: error)
        }
        try protect()
        return aside
    }
}
