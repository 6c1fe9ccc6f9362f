extension MQTTChuckLogger {
    /// The packets that began the exchanges which took longest, the slowest first, each with ``MQTTChuckRow/roundTrip``.
    ///
    /// An exchange is a packet with its answers, such as PUBLISH and PUBACK. One that has not ended, or whose first packet is
    /// not kept any more, is left out.
    ///
    /// - Parameters:
    ///   - limit: The most packets that are returned.
    ///   - query: Which first packets are wanted; all by default.
    /// - Returns: The rows of these packets.
    public func slowestExchanges(_ limit: Int, matching query: MQTTChuckQuery = .all) -> [MQTTChuckRow] {
        var slowest: [MQTTChuckRow] = []
        forEachSlowest(limit, matching: query) { slowest.append($0) }
        return slowest
    }

    /// Writes the same as text, a line for each packet, with how long its exchange took.
    ///
    /// - Parameters:
    ///   - limit: The most packets.
    ///   - query: Which first packets are wanted; all by default.
    ///   - write: Takes one line with its line break at a time.
    /// - Throws: What `write` throws.
    package func exportSlowest(
        _ limit: Int, matching query: MQTTChuckQuery = .all, to write: (String) throws -> Void
    ) rethrows {
        let text = TextExport()
        try forEachSlowest(limit, matching: query) { try write(text.line($0) + "\n") }
    }

    /// Calls `body` with one row at a time: all of a large archive would not fit in memory.
    private func forEachSlowest(
        _ limit: Int, matching query: MQTTChuckQuery, _ body: (MQTTChuckRow) throws -> Void
    ) rethrows {
        var ended: [(start: UInt64, elapsed: Int64)] = []
        forEachLink(from: 0) { link in
            if link.isLast { ended.append((link.start, link.elapsed)) }
            return true
        }
        ended.sort { ($1.elapsed, $0.start) < ($0.elapsed, $1.start) }
        let reader = RowReader(options)
        var left = limit
        for (start, elapsed) in ended {
            guard left > 0 else { return }
            guard var raw = rawRows(from: start, limit: 1).first, raw.number == start else { continue }
            raw.roundTrip = elapsed
            guard query.matches(raw, reader) else { continue }
            var row = reader.row(raw)
            row.roundTrip = .nanoseconds(elapsed)
            try body(row)
            left -= 1
        }
    }
}
