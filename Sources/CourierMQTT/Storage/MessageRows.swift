import CourierCore

/// Rows in the order of their ids. Adding behind the last one, finding and removing do not depend on how many there
/// are, but for a binary search; gaps are closed when they are more than half.
struct MessageRows<Row: Sendable>: Sendable {
    typealias ID = StoredMessage.ID

    /// Fewer gaps than this are not worth moving the rest.
    private static var toleratedGaps: Int { 64 }

    private var ids: [ID] = []
    private var rows: [Row?] = []
    /// How many rows there are.
    private(set) var count = 0

    subscript(id: ID) -> Row? {
        guard let index = index(of: id) else { return nil }
        return rows[index]
    }

    /// Puts a row in, in place of one with the same id.
    ///
    /// - Returns: The row that was there.
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

    /// Takes a row out.
    @discardableResult
    mutating func remove(_ id: ID) -> Row? {
        guard let index = index(of: id), let row = rows[index] else { return nil }
        rows[index] = nil
        count -= 1
        closeGaps()
        return row
    }

    /// Takes out all rows that `isOver` names.
    ///
    /// - Returns: The rows.
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

    /// Shows at most `limit` rows above an id, in order.
    ///
    /// - Returns: The last id that was shown; `nil` when there is none.
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

    /// The first place whose id is not below `id`.
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
