extension SQLiteMessageStore {
    /// The point at which a commit is complete.
    public enum Durability: Hashable, Sendable, CaseIterable {
        /// A commit is complete when the disk has stored it. The commit then survives a crash of the process or the
        /// system, and a power cut. Each group of commits costs one `fsync`. Commits that arrive during a write join
        /// the next group.
        case full

        /// A commit is complete when the operating system has received it. The commit then survives a `kill -9` of the
        /// process. After a power cut, the commits of the last seconds may be missing, but the file is intact.
        case normal
    }
}
