extension MQTTChuckArchive {
    /// How much of what was recorded stays in the file. Beyond it the oldest rows are removed.
    public struct Retention: Hashable, Sendable {
        /// The retention of an archive that is given none.
        public static let `default` = Retention()

        /// The most rows: 1,000,000 by default.
        public var rows: Int

        /// The most bytes of packets: 256 MiB by default. The file is larger by what the rows themselves take, some
        /// thirty bytes each, and by the log that is written before it, some MiB.
        public var bytes: Int

        /// How long rows stay, by the time of their packets: 7 days by default, `nil` for as long as there is room.
        public var age: Duration?

        /// Collects the limits.
        ///
        /// - Parameters:
        ///   - rows: The most rows; at least 1 is used.
        ///   - bytes: The most bytes of packets; at least 1 is used.
        ///   - age: How long rows stay; at least zero is used. `nil` for as long as there is room.
        public init(rows: Int = 1_000_000, bytes: Int = 256 << 20, age: Duration? = .seconds(7 * 86_400)) {
            self.rows = max(1, rows)
            self.bytes = max(1, bytes)
            self.age = age
        }
    }
}
