/// The topics of each topic alias over time, in one direction of a connection.
///
/// A sender may give an alias a new topic at any time (3.3.2.3.4). A row is decoded later, with the topic that the
/// alias had at that row. So earlier topics are stored as long as rows may need them.
struct AliasHistory {
    /// The topic that an alias has from the row `row` on.
    struct Meaning {
        let row: UInt64
        /// The topic, masked if a redaction rule hides it.
        let bytes: [UInt8]
        /// True if a redaction rule hides messages on the topic.
        let isHidden: Bool

        var topic: String { String(decoding: bytes, as: UTF8.self) }

        fileprivate var cost: Int { bytes.count + MemoryLayout<Meaning>.stride }
    }

    /// The memory limit for one direction of a connection: 1 MiB. Above it, the oldest topics are dropped. If the
    /// current topics are still too large, all topics are dropped. Rows whose topic was dropped show only the alias.
    static let limit = 1024 * 1024

    /// The topics by alias. An array is enough, because brokers and clients use small alias numbers.
    private var meanings: [[Meaning]] = []
    private(set) var cost = 0

    /// Returns the current topic of the alias.
    @inline(__always)
    func current(_ alias: UInt16) -> Meaning? { Int(alias) < meanings.count ? meanings[Int(alias)].last : nil }

    /// True if this is the current topic of the alias.
    @inline(__always)
    func isCurrent(_ alias: UInt16, _ topic: Span<UInt8>) -> Bool {
        guard Int(alias) < meanings.count, let last = meanings[Int(alias)].indices.last else { return false }
        let bytes = meanings[Int(alias)][last].bytes
        guard bytes.count == topic.count else { return false }
        for index in bytes.indices where bytes[index] != topic[index] { return false }
        return true
    }

    /// Returns the topic that the alias had at a row.
    func meaning(of alias: UInt16, at row: UInt64) -> Meaning? {
        Int(alias) < meanings.count ? meanings[Int(alias)].last { $0.row <= row } : nil
    }

    /// Sets the topic of the alias, unless the alias already has this topic. `oldestRow` is the oldest row that may
    /// still be read.
    mutating func define(_ alias: UInt16, _ meaning: Meaning, oldestRow: UInt64) {
        if let last = current(alias), last.isHidden == meaning.isHidden, last.bytes == meaning.bytes { return }
        if cost + meaning.cost > Self.limit { prune(oldestRow) }
        while meanings.count <= Int(alias) { meanings.append([]) }
        meanings[Int(alias)].append(meaning)
        cost += meaning.cost
    }

    /// Drops topics that no row needs. If the remaining topics use more than half of the limit, drops all except the
    /// current topics. If the current topics also use too much, drops all topics. Each call frees at least half of the
    /// limit, so calls are rare.
    private mutating func prune(_ oldestRow: UInt64) {
        keep { list in list.dropFirst(list.lastIndex { $0.row <= oldestRow } ?? 0) }
        if cost > Self.limit / 2 { keep { $0.suffix(1) } }
        if cost > Self.limit / 2 { keep { _ in [] } }
    }

    private mutating func keep(_ part: ([Meaning]) -> ArraySlice<Meaning>) {
        meanings = meanings.map { Array(part($0)) }
        cost = meanings.reduce(0) { $0 + $1.reduce(0) { $0 + $1.cost } }
    }
}
