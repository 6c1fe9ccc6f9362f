/// The links of the rows that are kept, in the order of their rows.
///
/// They are kept in runs, which one read and one write make by themselves: what is answered in order is linked over the
/// same distance, and took equally long.
struct ExchangeLinks {
    private struct Run {
        let first: ExchangeLink
        var count: Int

        var endRow: UInt64 { first.row &+ UInt64(count) }

        func link(of row: UInt64) -> ExchangeLink { first.shifted(by: row &- first.row) }
    }

    /// All but the newest.
    private var runs = FlatRing<Run>()
    /// The run that grows. It stands outside because each link touches it; it counts 0 where there is none.
    private var newest = Run(first: ExchangeLink(row: 0, start: 0, elapsed: 0, isLast: false), count: 0)

    /// What they take in memory.
    var byteCount: Int { (runs.count + (newest.count > 0 ? 1 : 0)) * MemoryLayout<Run?>.stride }

    /// Adds the link of a row behind all others, and the same for so many rows in all.
    mutating func append(_ link: ExchangeLink, count: Int = 1) {
        if newest.count > 0 {
            if link.row == newest.endRow, link.isLike(newest.first) {
                newest.count &+= count
                return
            }
            runs.append(newest)
        }
        newest = Run(first: link, count: count)
    }

    /// Takes away what no row at `row` or behind it needs. Some links of earlier rows may stay.
    mutating func removeFirst(before row: UInt64) {
        runs.removeFirst { $0.endRow <= row }
        if newest.endRow <= row { newest.count = 0 }
    }

    /// Takes the links of the rows from `row` on away.
    mutating func removeLast(from row: UInt64) {
        while newest.count > 0, newest.endRow > row {
            if newest.first.row < row {
                newest.count = Int(row - newest.first.row)
            } else if let earlier = runs.removeLast() {
                newest = earlier
            } else {
                newest.count = 0
            }
        }
    }

    /// Takes all of them and the memory away.
    mutating func removeAll() { self = ExchangeLinks() }

    /// The link of a row, if it has one.
    func link(of row: UInt64) -> ExchangeLink? {
        let run = run(at: runs.firstIndex { $0.endRow > row })
        return run.count > 0 && run.first.row <= row && row < run.endRow ? run.link(of: row) : nil
    }

    /// Up to `limit` links of rows from `row` on.
    func links(from row: UInt64, limit: Int) -> [ExchangeLink] {
        var result: [ExchangeLink] = []
        var index = runs.firstIndex { $0.endRow > row }
        while index <= runs.count {
            let run = run(at: index)
            let start = max(row, run.first.row)
            for row in start..<max(start, run.endRow) {
                if result.count == limit { return result }
                result.append(run.link(of: row))
            }
            index += 1
        }
        return result
    }

    private func run(at index: Int) -> Run { index < runs.count ? runs[index] : newest }
}
