import CSQLite
import CourierCore
import CourierSQLite

extension SQLiteFailure {
    /// Returns the error to report to the app: which file failed, how it failed, and what to do.
    func archiveError(_ path: String) -> CourierError {
        let what = "The archive \(path) failed while \(operation): \(message) (SQLite \(extendedCode))."
        if isDamage {
            return CourierError(.storeDamaged, what + " The file is damaged, or is not an archive.", cause: self)
        }
        switch code {
        case SQLITE_FULL:
            return CourierError(
                .storeFull, "The disk of the archive \(path) is full. Free some space; then the archive continues.",
                cause: self)
        case Self.noNumbersLeft.code:
            return CourierError(
                .storeFull,
                "The archive \(path) has no row numbers left, "
                    + "because a recording with very large packet numbers was imported. Choose another file.",
                cause: self)
        case SQLITE_BUSY, SQLITE_LOCKED:
            return CourierError(
                .storeInUse,
                "The archive \(path) is in use by another writer. Close that writer, or choose another file.",
                cause: self)
        default:
            return CourierError(
                .storeFailed, what + " Check that the disk works and that this user may write to it.", cause: self)
        }
    }

    /// The failure if a row number would exceed the largest number that can be read from a file.
    static let noNumbersLeft = SQLiteFailure(
        extendedCode: SQLITE_RANGE, message: "no row numbers are left", operation: "numbering a row")

    /// A failure because the file is an SQLite database of another kind, not an archive.
    static func foreign(applicationID: Int64) -> SQLiteFailure {
        SQLiteFailure(
            extendedCode: SQLITE_NOTADB, message: "a database of another application (\(applicationID))",
            operation: "examining the file")
    }
}
