/// Reads all readable rows of a table in a damaged file. Reads rows in the order of their keys. At each damaged place,
/// continues with the first readable row after it.
struct RowScan {
    /// The number of damaged places in one table after which the scan stops.
    private static let gapsSteppedOver = 1_000

    let table: String
    /// The columns to read. The first column must be the key.
    let columns: String
    let database: Database

    /// Calls `body` with every row that can be read. Throws only the failures of `body`.
    func visit(_ body: (Statement) throws(SQLiteFailure) -> Void) throws(SQLiteFailure) {
        var next = Int64(0)
        for _ in 0..<Self.gapsSteppedOver {
            let (end, isComplete) = try run(from: next, through: .max, "ASC", body)
            if isComplete { return }
            let gap = end.map { $0 == .max ? $0 : $0 + 1 } ?? next
            let behind = keyBehind(gap)
            let top = behind.map { $0 - 1 } ?? .max
            if gap <= top { _ = try run(from: gap, through: top, "DESC", body) }
            guard let behind else { return }
            next = behind
        }
    }

    /// Reads one range of keys in one direction, up to the first damaged place.
    ///
    /// - Returns: The key of the last row that was passed to `body`, and true if the range was read to its end.
    private func run(
        from first: Int64, through last: Int64, _ order: String, _ body: (Statement) throws(SQLiteFailure) -> Void
    ) throws(SQLiteFailure) -> (end: Int64?, isComplete: Bool) {
        let sql = "SELECT \(columns) FROM \(table) WHERE key BETWEEN ? AND ? ORDER BY key \(order)"
        guard let rows = try? database.prepare(sql, "reading") else { return (nil, false) }
        rows.bind(1, first).bind(2, last)
        var end: Int64?
        while true {
            guard let isRow = try? rows.step() else { return (end, false) }
            guard isRow else { return (end, true) }
            let key = rows.integer(0)
            // Stop if a key repeats, because damaged pages may refer to each other in a cycle.
            let goesOn = end.map { order == "ASC" ? key > $0 : key < $0 } ?? true
            guard goesOn, (first...last).contains(key) else {
                rows.reset()
                return (end, false)
            }
            try body(rows)
            end = key
        }
    }

    /// Returns the first readable key after a damaged place; `nil` if no readable row follows. The search tries keys
    /// with growing distances from the damaged place.
    private func keyBehind(_ gap: Int64) -> Int64? {
        let sql = "SELECT key FROM \(table) WHERE key >= ? ORDER BY key LIMIT 1"
        guard let seek = try? database.prepare(sql, "reading") else { return nil }
        var distance: Int64 = 1
        while true {
            let (start, isOver) = gap.addingReportingOverflow(distance)
            if isOver { return nil }
            seek.bind(1, start)
            if let isRow = try? seek.step() {
                defer { seek.reset() }
                guard isRow, seek.integer(0) >= start else { return nil }
                return seek.integer(0)
            }
            let (double, isTooFar) = distance.multipliedReportingOverflow(by: 2)
            if isTooFar { return nil }
            distance = double
        }
    }
}
