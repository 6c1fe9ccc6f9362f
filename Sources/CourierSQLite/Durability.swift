extension SQLiteMessageStore {
    /// When a commit counts as done.
    public enum Durability: Hashable, Sendable, CaseIterable {
        /// When the disk has it: it survives the process, the system and a power cut. Costs one `fsync` for each
        /// group of commits; what arrives while one is written goes into the next.
        case full

        /// When the system has it: it survives a `kill -9` of the process. After a power cut the last seconds may be
        /// missing, and what is there is whole.
        case normal
    }
}
