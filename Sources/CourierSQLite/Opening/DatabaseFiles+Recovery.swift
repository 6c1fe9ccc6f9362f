import CourierCore
import Foundation

extension DatabaseFiles {
    /// What is being saved from a damaged file.
    var recovering: String { path + ".recovering" }

    /// All that could be saved, about to take the place of the damaged file.
    var recovered: String { path + ".recovered" }

    /// Continues with a recovery whose last steps a crash has prevented.
    func finishRecovery() throws(CourierError) {
        guard FileManager.default.fileExists(atPath: recovered) else { return }
        _ = try replaceByRecovered()
    }

    /// Gives the damaged file a new name and its own to the recovered one.
    ///
    /// - Returns: Where the damaged file is now.
    func replaceByRecovered() throws(CourierError) -> String {
        let aside = try quarantine()
        try put(recovered, at: path)
        return aside
    }

    /// The saving is complete.
    func completeRecovering() throws(CourierError) {
        try PrivateFile.restrictIfPresent(recovering)
        try put(recovering, at: recovered)
    }

    /// Removes what an attempt to recover left behind.
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
                "The recovered \(name) can not be put in place. See that this user may write to its folder.",
                cause: error)
        }
    }
}
