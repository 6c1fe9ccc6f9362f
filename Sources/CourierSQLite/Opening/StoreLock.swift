import CSQLite
import CourierCore
import Foundation

/// The right to a store's file, held by one store object of one process.
///
/// It is SQLite's own lock on an empty file beside the database, which the system takes back when the process ends,
/// however it ends. A file of its own, because the database itself is moved when it is damaged.
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
            // Nobody holds a lock on what is no lock file of ours: ours are empty.
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

    /// Whether a store object of this process or another one holds the lock. Asking disturbs nobody.
    package static func isHeld(_ path: String) -> Bool {
        guard FileManager.default.fileExists(atPath: path),
            let database = try? Database(path: path, .reader, system: nil)
        else { return false }
        return database.isWriteLocked
    }

    /// Gives the lock back.
    package func release() { database.close() }
}
