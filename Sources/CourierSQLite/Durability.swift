extension SQLiteMessageStore {
    /// The point at which a commit is complete.
    public enum Durability: Hashable, Sendable, CaseIterable {
        /// The disk has the commit, so it survives a crash of the process or the system, and a power cut. It costs one
        /// `fsync` for each group of commits. Commits that arrive during a write join the next group.
        case full

        /// The operating system has the commit, so it survives a `kill -9` of the process. After a power cut, the last
        /// seconds may be missing, but the file is intact.
        case normal
    }
}
