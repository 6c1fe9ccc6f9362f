/// The exchange links of the rows that the logger holds, in row order.
///
/// Similar links of consecutive rows are stored together as one run. For example, the packets of one write are
/// acknowledged in the same sequence in one read. All these links have the same distance and elapsed time.
struct ExchangeLinks {
    private struct Run {
        let first: ExchangeLink
        var count: Int

        var endRow: UInt64 { first.row &+ UInt64(count) }

        func link(of row: UInt64) -> ExchangeLink { first.shifted(by: row &- first.row) }
    }

    /// All runs except the newest.
    private var runs = FlatRing<Run>()
    /// The newest run, to which new links are added. It is stored separately, because every new link uses it. A count
    /// of 0 means that there is no run.
    private var newest = Run(first: ExchangeLink(row: 0, start: 0, elapsed: 0, isLast: false), count: 0)

    /// The memory that the runs use, in bytes.
    var byteCount: Int { (runs.count + (newest.count > 0 ? 1 : 0)) * MemoryLayout<Run?>.stride }

    /// Adds the link of a row. The row must be after all rows that already have links. `count` is the number of
    /// consecutive rows whose links have the same distance and elapsed time.
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

    /// Removes each run whose rows are all before `row`. A run that continues at `row` or later remains complete.
    mutating func removeFirst(before row: UInt64) {
        runs.removeFirst { $0.endRow <= row }
        if newest.endRow <= row { newest.count = 0 }
    }

    /// Removes the links of the rows from `row` on.
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

    /// Removes all links and frees their memory.
    mutating func removeAll() { self = ExchangeLinks() }

    /// Returns the link of a row, or `nil` if the row has none.
    func link(of row: UInt64) -> ExchangeLink? {
        let run = run(at: runs.firstIndex { $0.endRow > row })
        return run.count > 0 && run.first.row <= row && row < run.endRow ? run.link(of: row) : nil
    }

    /// Returns up to `limit` links of rows from `row` on.
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
