extension SQLiteMessageStore {
    /// The limits of a store. A change that exceeds a limit is refused with `storeFull`. The store does not drop rows
    /// to make room.
    public struct Limits: Hashable, Sendable {
        /// The default limits.
        public static let `default` = Limits()

        /// The maximum number of messages and subscriptions of all clients in the store together; 1,000,000 by default.
        public var rows: Int

        /// The maximum number of bytes of payloads, topics, filters and properties of all clients in the store
        /// together; 1 GiB by default.
        public var bytes: Int

        /// The maximum number of changes that wait for the disk; 65,536 by default.
        public var waitingChanges: Int

        /// The maximum number of bytes of messages that wait for the disk; 64 MiB by default.
        public var waitingBytes: Int

        /// The size of the log file in bytes at which its contents are moved into the database; 8 MiB by default. A
        /// larger log makes the start after a crash slower. A smaller log makes writing slower.
        public var logBytes: Int

        /// The time after which the store forgets a client without rows, including its last message id; 30 days by
        /// default.
        public var emptyScopeAge: Duration

        /// Makes limits.
        ///
        /// - Parameters:
        ///   - rows: The maximum number of messages and subscriptions of all clients together.
        ///   - bytes: The maximum number of bytes of all clients together.
        ///   - waitingChanges: The maximum number of changes that wait for the disk.
        ///   - waitingBytes: The maximum number of bytes of messages that wait for the disk.
        ///   - logBytes: The size of the log in bytes at which it is moved into the database.
        ///   - emptyScopeAge: The time after which a client without rows is forgotten.
        public init(
            rows: Int = 1_000_000, bytes: Int = 1 << 30, waitingChanges: Int = 65_536, waitingBytes: Int = 64 << 20,
            logBytes: Int = 8 << 20, emptyScopeAge: Duration = .seconds(30 * 86_400)
        ) {
            self.rows = rows
            self.bytes = bytes
            self.waitingChanges = waitingChanges
            self.waitingBytes = waitingBytes
            self.logBytes = logBytes
            self.emptyScopeAge = emptyScopeAge
        }
    }
}
