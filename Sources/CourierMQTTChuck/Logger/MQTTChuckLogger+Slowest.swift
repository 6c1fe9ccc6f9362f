extension MQTTChuckLogger {
    /// Returns the first packet of each of the slowest exchanges, the slowest first. Each row contains its
    /// ``MQTTChuckRow/roundTrip``.
    ///
    /// An exchange is a packet with its responses, such as PUBLISH and PUBACK. An exchange is left out if it has not
    /// ended, or if the logger no longer holds its first packet.
    ///
    /// - Parameters:
    ///   - limit: The maximum number of packets to return.
    ///   - query: Selects the first packets of exchanges; all by default.
    /// - Returns: The rows of the first packets.
    public func slowestExchanges(_ limit: Int, matching query: MQTTChuckQuery = .all) -> [MQTTChuckRow] {
        var slowest: [MQTTChuckRow] = []
        forEachSlowest(limit, matching: query) { slowest.append($0) }
        return slowest
    }

    /// Writes the first packets of the slowest exchanges as text, one line per packet, with the duration of the
    /// exchange.
    ///
    /// - Parameters:
    ///   - limit: The maximum number of packets to write.
    ///   - query: Selects the first packets of exchanges; all by default.
    ///   - write: Receives one line, including its line break, per call.
    /// - Throws: Any error that `write` throws.
    package func exportSlowest(
        _ limit: Int, matching query: MQTTChuckQuery = .all, to write: (String) throws -> Void
    ) rethrows {
        let text = TextExport()
        try forEachSlowest(limit, matching: query) { try write(text.line($0) + "\n") }
    }

    /// Calls `body` with the first packet of each slow exchange, one row at a time, because all rows of a large archive
    /// would not fit in memory together.
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
