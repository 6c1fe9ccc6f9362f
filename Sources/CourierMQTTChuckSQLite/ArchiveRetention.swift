extension MQTTChuckArchive {
    /// The limits for the rows in the file. If a limit is exceeded, the oldest rows are removed.
    public struct Retention: Hashable, Sendable {
        /// The default limits.
        public static let `default` = Retention()

        /// The maximum number of rows in the file; 1,000,000 by default. A value below 1 counts as 1.
        public var rows: Int { didSet { rows = max(1, rows) } }

        /// The maximum size of all packets in bytes; 256 MiB by default. The file is larger: each row needs about
        /// thirty more bytes, and the write-ahead log needs some MiB. A value below 1 counts as 1.
        public var bytes: Int { didSet { bytes = max(1, bytes) } }

        /// The maximum age of a row in the file, counted from the time of its packet; 7 days by default, `nil` for no
        /// limit.
        public var age: Duration?

        /// Creates a set of limits.
        ///
        /// - Parameters:
        ///   - rows: The maximum number of rows. A value below 1 counts as 1.
        ///   - bytes: The maximum size of all packets in bytes. A value below 1 counts as 1.
        ///   - age: The maximum age of a row. A negative value counts as zero; `nil` means no limit.
        public init(rows: Int = 1_000_000, bytes: Int = 256 << 20, age: Duration? = .seconds(7 * 86_400)) {
            self.rows = max(1, rows)
            self.bytes = max(1, bytes)
            self.age = age
        }
    }
}
