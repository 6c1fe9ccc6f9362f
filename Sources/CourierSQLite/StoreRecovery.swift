public import CourierCore
public import Foundation

/// What became of a store's file that could not be read as one.
public struct StoreRecovery: Sendable {
    /// Where the old file is now; its log, if there was one, stands beside it with `-wal` behind the name. The store
    /// never touches or removes it again.
    public let quarantinedFile: URL

    /// How many messages, subscriptions and packet ids of it are in the new file.
    public let savedRows: Int

    /// What was wrong, with the code `storeDamaged`.
    public let error: CourierError

    /// Collects the fields.
    ///
    /// - Parameters:
    ///   - quarantinedFile: Where the old file is now.
    ///   - savedRows: How many rows of it are in the new file.
    ///   - error: What was wrong.
    public init(quarantinedFile: URL, savedRows: Int, error: CourierError) {
        self.quarantinedFile = quarantinedFile
        self.savedRows = savedRows
        self.error = error
    }
}
