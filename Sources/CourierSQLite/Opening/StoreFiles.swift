import CourierCore
import Foundation

/// The names of a store's files, and what is done to the files as such.
struct StoreFiles: Sendable {
    private static let privateFile = 0o600
    private static let privateFolder = 0o700

    /// The database. Symbolic links are resolved, so that one file has one name.
    let path: String

    var log: String { path + "-wal" }
    var index: String { path + "-shm" }
    var lock: String { path + ".lock" }
    /// What is being saved from a damaged file.
    var recovering: String { path + ".recovering" }
    /// All that could be saved, about to take the place of the damaged file.
    var recovered: String { path + ".recovered" }

    /// Makes the folder, for this user only, if it is missing.
    init(at url: URL) throws(CourierError) {
        guard url.isFileURL, !url.lastPathComponent.isEmpty else {
            throw CourierError(
                .invalidConfiguration,
                "A message store needs the URL of a file; \(url.absoluteString.quoted()) is none.")
        }
        let folder = url.deletingLastPathComponent()
        do {
            try FileManager.default.createDirectory(
                at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: Self.privateFolder])
        } catch {
            throw CourierError(
                .storeFailed,
                "The folder \(folder.path) of the message store can not be made. Choose a folder that this user may "
                    + "write to.", cause: error)
        }
        let isThere = FileManager.default.fileExists(atPath: url.path)
        let resolved =
            isThere
            ? url.resolvingSymlinksInPath()
            : folder.resolvingSymlinksInPath().appendingPathComponent(url.lastPathComponent)
        path = resolved.standardizedFileURL.path
        var isFolder: ObjCBool = false
        if FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), isFolder.boolValue {
            throw CourierError(
                .storeFailed, "The message store \(path) is a folder. Name a file in it, or another file.")
        }
    }

    /// Lets nobody but this user read the database and what stands beside it; SQLite gives later files the same
    /// permissions.
    func protect() throws(CourierError) {
        for file in [path, log, index, lock] where FileManager.default.fileExists(atPath: file) { try protect(file) }
    }

    private func protect(_ file: String) throws(CourierError) {
        do {
            try FileManager.default.setAttributes([.posixPermissions: Self.privateFile], ofItemAtPath: file)
        } catch {
            throw CourierError(
                .storeFailed,
                "The file \(file) of the message store can not be made private to this user. See who owns it.",
                cause: error)
        }
    }

    // MARK: Setting aside

    /// Goes on with a recovery whose last steps a crash has prevented.
    func finishRecovery() throws(CourierError) {
        guard FileManager.default.fileExists(atPath: recovered) else { return }
        _ = try replaceByRecovered()
    }

    /// Gives the damaged file a new name and its own to the recovered one.
    ///
    /// The log goes first: left behind, it would be taken for that of the new file.
    ///
    /// - Returns: Where the damaged file is now.
    func replaceByRecovered() throws(CourierError) -> String {
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
            try manager.moveItem(atPath: recovered, toPath: path)
        } catch {
            throw CourierError(
                .storeFailed,
                "The damaged message store \(path) can not be set aside. See that this user may write to its folder.",
                cause: error)
        }
        return aside
    }

    /// Removes what an attempt to recover left behind.
    func removeUnfinishedRecovery() {
        for name in [recovering, recovering + ".template", recovering + ".copy"] {
            for suffix in ["", "-wal", "-shm", "-journal"] {
                try? FileManager.default.removeItem(atPath: name + suffix)
            }
        }
    }

    /// The saving is complete.
    func completeRecovering() throws(CourierError) {
        do {
            try protect(recovering)
            try FileManager.default.moveItem(atPath: recovering, toPath: recovered)
        } catch {
            throw CourierError(
                .storeFailed, "The recovered message store \(path) can not be put in place.", cause: error)
        }
    }
}
