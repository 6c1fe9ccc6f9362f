import CSQLite
package import CourierCore

extension SQLiteFailure {
    /// Returns the error that the app receives. The error describes the file, the failure, and the remedy.
    package func courierError(path: String) -> CourierError {
        let what = "The message store \(path) failed while \(operation): \(message) (SQLite \(extendedCode))."
        switch code {
        case SQLITE_FULL:
            return CourierError(
                .storeFull,
                "The disk of the message store \(path) is full: \(operation) failed. "
                    + "Free some space. The store then works again.", cause: self)
        case SQLITE_BUSY, SQLITE_LOCKED:
            return CourierError(
                .storeInUse,
                "The message store \(path) is in use by another process or another store object. "
                    + "Close the other object, share one store object, or choose another file.", cause: self)
        case SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_FORMAT:
            return CourierError(.storeDamaged, what + " The file is damaged.", cause: self)
        case SQLITE_CANTOPEN, SQLITE_PERM, SQLITE_READONLY, SQLITE_AUTH:
            return CourierError(
                .storeFailed, what + " Check that the folder exists and that this user may write to it.", cause: self)
        case SQLITE_IOERR:
            return CourierError(
                .storeFailed, what + " Check the disk; the store tries again with the next change.", cause: self)
        default: return CourierError(.storeFailed, what, cause: self)
        }
    }
}
