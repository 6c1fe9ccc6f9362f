/// Which topic each alias stood for, and since which row, in one direction of a connection.
///
/// Aliases may be given a new meaning at any time (3.3.2.3.4), and rows are looked at later, so meanings are kept
/// while rows may need them.
struct AliasHistory {
    /// What an alias stands for from a row on.
    struct Meaning {
        let row: UInt64
        /// The topic as it may be shown.
        let bytes: [UInt8]
        /// Whether a redaction rule hides messages on the topic.
        let isHidden: Bool

        var topic: String { String(decoding: bytes, as: UTF8.self) }

        fileprivate var cost: Int { bytes.count + MemoryLayout<Meaning>.stride }
    }

    /// What the meanings of one direction of a connection may take: 1 MiB. A peer that gives more at once loses the
    /// oldest, or all if the present ones are too many, and rows that needed those show the alias alone.
    static let limit = 1024 * 1024

    /// By alias; those that brokers and clients give are small.
    private var meanings: [[Meaning]] = []
    private(set) var cost = 0

    /// What the alias stands for now.
    @inline(__always)
    func current(_ alias: UInt16) -> Meaning? { Int(alias) < meanings.count ? meanings[Int(alias)].last : nil }

    /// Whether the alias stands for this topic now.
    @inline(__always)
    func isCurrent(_ alias: UInt16, _ topic: Span<UInt8>) -> Bool {
        guard Int(alias) < meanings.count, let last = meanings[Int(alias)].indices.last else { return false }
        let bytes = meanings[Int(alias)][last].bytes
        guard bytes.count == topic.count else { return false }
        for index in bytes.indices where bytes[index] != topic[index] { return false }
        return true
    }

    /// What the alias stood for at a row.
    func meaning(of alias: UInt16, at row: UInt64) -> Meaning? {
        Int(alias) < meanings.count ? meanings[Int(alias)].last { $0.row <= row } : nil
    }

    /// Gives the alias a meaning, unless that is the one it has; `oldestRow` is the oldest one that may still be looked
    /// at.
    mutating func define(_ alias: UInt16, _ meaning: Meaning, oldestRow: UInt64) {
        if let last = current(alias), last.isHidden == meaning.isHidden, last.bytes == meaning.bytes { return }
        if cost + meaning.cost > Self.limit { prune(oldestRow) }
        while meanings.count <= Int(alias) { meanings.append([]) }
        meanings[Int(alias)].append(meaning)
        cost += meaning.cost
    }

    /// Drops what no row needs and, where that is less than half, what the oldest rows need; so it is seldom called.
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
