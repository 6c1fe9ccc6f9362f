import CourierCore

/// Rows in the order of their ids, found by binary search. Appending a row takes the same time for any number of rows.
/// Removing a row leaves a gap. If there are more gaps than rows, all gaps are removed.
struct MessageRows<Row: Sendable>: Sendable {
    typealias ID = StoredMessage.ID

    /// The number of gaps that is always tolerated, because the gaps use little memory.
    private static var toleratedGaps: Int { 64 }

    private var ids: [ID] = []
    private var rows: [Row?] = []
    /// The number of rows.
    private(set) var count = 0

    subscript(id: ID) -> Row? {
        guard let index = index(of: id) else { return nil }
        return rows[index]
    }

    /// Adds a row, or replaces the row with the same id.
    ///
    /// - Returns: The replaced row; `nil` if there was none.
    @discardableResult
    mutating func put(_ row: Row, _ id: ID) -> Row? {
        let index = firstIndex(from: id)
        if index < ids.count, ids[index] == id {
            let old = rows[index]
            rows[index] = row
            if old == nil { count += 1 }
            return old
        }
        ids.insert(id, at: index)
        rows.insert(row, at: index)
        count += 1
        return nil
    }

    /// Removes and returns the row with this id; returns `nil` if there is none.
    @discardableResult
    mutating func remove(_ id: ID) -> Row? {
        guard let index = index(of: id), let row = rows[index] else { return nil }
        rows[index] = nil
        count -= 1
        closeGaps()
        return row
    }

    /// Removes all rows that satisfy `isOver`.
    ///
    /// - Returns: The removed rows.
    mutating func removeAll(where isOver: (Row) -> Bool) -> [Row] {
        var removed: [Row] = []
        for (index, row) in rows.enumerated() {
            guard let row, isOver(row) else { continue }
            removed.append(row)
            rows[index] = nil
        }
        count -= removed.count
        closeGaps()
        return removed
    }

    /// Calls `body` for at most `limit` rows with ids above `id`, in the order of the ids. If `id` is `nil`, starts
    /// with the first row.
    ///
    /// - Returns: The last visited id; `nil` if there was no row.
    func visit(after id: ID?, limit: Int, _ body: (Row) -> Void) -> ID? {
        var index = id.map { firstIndex(above: $0) } ?? 0
        var shown = 0
        var last: ID?
        while index < rows.count, shown < limit {
            if let row = rows[index] {
                body(row)
                shown += 1
                last = ids[index]
            }
            index += 1
        }
        return last
    }

    private func index(of id: ID) -> Int? {
        let index = firstIndex(from: id)
        return index < ids.count && ids[index] == id ? index : nil
    }

    private func firstIndex(above id: ID) -> Int {
        let index = firstIndex(from: id)
        return index < ids.count && ids[index] == id ? index + 1 : index
    }

    /// Returns the index of the first id that is equal to `id` or higher.
    private func firstIndex(from id: ID) -> Int {
        guard let last = ids.last, last >= id else { return ids.count }
        var (low, high) = (0, ids.count)
        while low < high {
            let middle = (low + high) / 2
            if ids[middle] < id { low = middle + 1 } else { high = middle }
        }
        return low
    }

    private mutating func closeGaps() {
        let gaps = ids.count - count
        guard gaps > Self.toleratedGaps, gaps > count else { return }
        var (keptIDs, keptRows): ([ID], [Row?]) = ([], [])
        keptIDs.reserveCapacity(count)
        keptRows.reserveCapacity(count)
        for (index, row) in rows.enumerated() where row != nil {
            keptIDs.append(ids[index])
            keptRows.append(row)
        }
        (ids, rows) = (keptIDs, keptRows)
    }
}
