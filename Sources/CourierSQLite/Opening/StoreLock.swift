import CSQLite
import CourierCore
import Foundation

/// The exclusive lock on a store's file, held by one store object of one process.
///
/// The lock is an SQLite lock on an empty file beside the database. The system releases the lock when the process ends,
/// even after a crash. The lock has its own file, because a damaged database file is renamed.
package final class StoreLock {
    private let database: Database

    /// Takes the lock on an existing file.
    ///
    /// - Throws: A failure with the code `SQLITE_BUSY` if another store object or process holds the lock.
    package init(_ path: String, system: String?) throws(SQLiteFailure) {
        do throws(SQLiteFailure) {
            database = try Self.acquire(path, system)
        } catch {
            guard error.isDamage else { throw error }
            // The lock file of a store is always empty. No store has locked a file with other content, so such a file
            // can be replaced.
            try? FileManager.default.removeItem(atPath: path)
            do throws(CourierError) { try PrivateFile.prepare(path) } catch { throw SQLiteFailure(creating: error) }
            database = try Self.acquire(path, system)
        }
    }

    private static func acquire(_ path: String, _ system: String?) throws(SQLiteFailure) -> Database {
        let database = try Database(path: path, .owner, system: system)
        database.becomeImpatient()
        let operation = "taking the lock \(path)"
        try database.execute("PRAGMA journal_mode = MEMORY; PRAGMA locking_mode = EXCLUSIVE", operation)
        try database.execute("BEGIN EXCLUSIVE", operation)
        return database
    }

    /// True if a store object of this or another process holds the lock. The check takes no lock.
    package static func isHeld(_ path: String) -> Bool {
        guard FileManager.default.fileExists(atPath: path),
            let database = try? Database(path: path, .reader, system: nil)
        else { return false }
        return database.isWriteLocked
    }

    /// Releases the lock.
    package func release() { database.close() }
}
