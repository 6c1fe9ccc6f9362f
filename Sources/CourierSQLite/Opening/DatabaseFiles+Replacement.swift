import CourierCore
import Foundation

extension DatabaseFiles {
    /// The file into which rows of a damaged file are being copied.
    var recovering: String { path + ".recovering" }

    /// The complete copy, which will replace the damaged file.
    var recovered: String { path + ".recovered" }

    /// Finishes a recovery that a crash interrupted after the copy was complete.
    func finishRecovery() throws(CourierError) {
        guard FileManager.default.fileExists(atPath: recovered) else { return }
        _ = try replaceByRecovered()
    }

    /// Renames the damaged file, and renames the recovered file to the path of the database.
    ///
    /// - Returns: The new path of the damaged file.
    func replaceByRecovered() throws(CourierError) -> String {
        let aside = try quarantine()
        try put(recovered, at: path)
        return aside
    }

    /// Marks the copy as complete by renaming it.
    func completeRecovering() throws(CourierError) {
        try PrivateFile.restrictIfPresent(recovering)
        try put(recovering, at: recovered)
    }

    /// Removes the files of an unfinished recovery.
    func removeUnfinishedRecovery() {
        for name in [recovering, recovering + ".template", recovering + ".copy"] {
            for suffix in ["", "-wal", "-shm", "-journal"] {
                try? FileManager.default.removeItem(atPath: name + suffix)
            }
        }
    }

    private func put(_ file: String, at place: String) throws(CourierError) {
        do {
            try FileManager.default.moveItem(atPath: file, toPath: place)
        } catch {
            throw CourierError(
                .storeFailed,
                "The recovered \(name) cannot replace the damaged file. Give this user write access to its folder.",
                cause: error)
        }
    }
}
