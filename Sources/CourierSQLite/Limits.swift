extension SQLiteMessageStore {
    /// How much a store takes. What does not fit is refused with `storeFull`; nothing is dropped to make room.
    public struct Limits: Hashable, Sendable {
        /// The limits of a store that is given none.
        public static let `default` = Limits()

        /// How many messages and subscriptions all scopes have together: 1,000,000 by default.
        public var rows: Int

        /// How many bytes of payloads, topics, filters and properties all scopes have together: 1 GiB by default.
        public var bytes: Int

        /// How many changes may wait for the disk: 65,536 by default.
        public var waitingChanges: Int

        /// How many bytes of messages may wait for the disk: 64 MiB by default.
        public var waitingBytes: Int

        /// How large the log beside the file gets before its contents are moved into the file: 8 MiB by default. A
        /// larger one costs start-up time after a crash, a smaller one speed.
        public var logBytes: Int

        /// After how long a scope that holds nothing is forgotten, together with its last message id: 30 days by
        /// default.
        public var emptyScopeAge: Duration

        /// Collects limits.
        ///
        /// - Parameters:
        ///   - rows: How many messages and subscriptions all scopes have together.
        ///   - bytes: How many bytes they have together.
        ///   - waitingChanges: How many changes may wait for the disk.
        ///   - waitingBytes: How many bytes of messages may wait for the disk.
        ///   - logBytes: How large the log gets before it is moved into the file.
        ///   - emptyScopeAge: After how long an empty scope is forgotten.
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
