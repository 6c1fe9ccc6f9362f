public import CourierCore
public import Foundation

/// The replacement of a damaged store file. If the process crashes during a recovery, the next opening finishes the
/// recovery.
public struct StoreRecovery: Sendable {
    /// The new location of the damaged file. If the file had a log, the log is next to it, with `-wal` added to the
    /// name. The store never changes or removes the two files.
    public let quarantinedFile: URL

    /// The number of messages, subscriptions and packet ids that were copied from the damaged file to the new file.
    public let savedRows: Int

    /// The error with the code `storeDamaged`, which describes the damage.
    public let error: CourierError

    /// Creates a report of a recovery from its parts.
    ///
    /// - Parameters:
    ///   - quarantinedFile: The new location of the damaged file.
    ///   - savedRows: The number of rows that were copied to the new file.
    ///   - error: The damage.
    public init(quarantinedFile: URL, savedRows: Int, error: CourierError) {
        self.quarantinedFile = quarantinedFile
        self.savedRows = savedRows
        self.error = error
    }
}
