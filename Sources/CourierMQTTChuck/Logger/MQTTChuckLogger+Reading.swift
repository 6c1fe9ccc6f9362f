import CourierCore
import MQTTCodec
import Synchronization

extension MQTTChuckLogger {
    /// The maximum number of rows that one call returns by default.
    public static let pageLimit = 1_000

    /// The maximum number of exchange links that are searched for the end of an exchange: 16,384. If the end is not
    /// among these links, the first packet of the exchange shows no round trip.
    static let linksLookedThrough = 16_384

    /// The maximum number of earlier rows that a live view checks again when exchanges end: 16,384.
    static let rowsLookedAtAgain: UInt64 = 16_384

    /// Returns rows in the order of time, starting at a row number.
    ///
    /// - Parameters:
    ///   - first: The lowest row number to return; by default the oldest row.
    ///   - query: Selects the rows; all rows by default.
    ///   - limit: The maximum number of rows to return.
    ///   - scanLimit: The maximum number of rows to check. It keeps a call short if few rows match. To continue, call
    ///     again with the page's ``MQTTChuckPage/next``. No limit by default.
    /// - Returns: The rows, and the row number at which to continue.
    public func rows(
        from first: UInt64 = 0, matching query: MQTTChuckQuery = .all, limit: Int = MQTTChuckLogger.pageLimit,
        scanLimit: Int = .max
    ) -> MQTTChuckPage {
        var found: [RawRow] = []
        var next = first
        var scanned = 0
        let reader = RowReader(options)
        search: while found.count < limit, scanned < scanLimit {
            let part = rawRows(from: next, limit: min(Self.chunk, scanLimit - scanned))
            if part.isEmpty { break }
            for raw in timed(part, for: query) {
                next = raw.number + 1
                scanned += 1
                if query.matches(raw, reader) { found.append(raw) }
                if found.count == limit { break search }
            }
        }
        return page(found, next: next, reader)
    }

    /// Returns the newest rows before a row number, in the order of time.
    ///
    /// - Parameters:
    ///   - end: The row number after the last row to return.
    ///   - query: Selects the rows; all rows by default.
    ///   - limit: The maximum number of rows to return.
    ///   - scanLimit: The maximum number of rows to check; no limit by default.
    /// - Returns: The rows. To get older rows, pass ``MQTTChuckPage/next`` as `end`.
    public func rows(
        before end: UInt64, matching query: MQTTChuckQuery = .all, limit: Int = MQTTChuckLogger.pageLimit,
        scanLimit: Int = .max
    ) -> MQTTChuckPage {
        var found: [RawRow] = []
        var end = end
        var scanned = 0
        let reader = RowReader(options)
        search: while found.count < limit, scanned < scanLimit {
            let count = min(Self.chunk, scanLimit - scanned)
            let part = withHeldRows { state in
                state.recorder.rows(from: state.recorder.row(count, before: end), limit: count)
            }.filter { $0.number < end }
            if part.isEmpty { break }
            for raw in timed(part, for: query).reversed() {
                end = raw.number
                scanned += 1
                if query.matches(raw, reader) { found.append(raw) }
                if found.count == limit { break search }
            }
        }
        return page(found.reversed(), next: end, reader)
    }

    /// Returns everything that the logger knows about one packet.
    ///
    /// - Parameter number: The row number of the packet.
    /// - Returns: The details, or `nil` if the logger no longer holds the row.
    public func details(of number: UInt64) -> MQTTChuckDetails? {
        guard let raw = rawRows(from: number, limit: 1).first, raw.number == number else { return nil }
        let reader = RowReader(options)
        var row = reader.row(raw, isWhole: true)
        var exchange: [MQTTChuckRow] = []
        if let start = row.exchange {
            let rows = ([start] + links(ofExchange: start, limit: Self.pageLimit).map(\.row)).compactMap { number in
                rawRows(from: number, limit: 1).first { $0.number == number }
            }
            exchange = page(rows, next: 0, reader).rows
            if row.roundTrip == nil, start == number { row.roundTrip = exchange.first?.roundTrip }
        }
        var fields: [MQTTChuckField] = []
        var payload = 0..<0
        switch RowReader.packet(raw) {
        case .success(let packet):
            fields = PacketFields.fields(packet, row)
            if case .publish(let publish) = packet {
                payload = raw.range.count - publish.payload.count..<raw.range.count
            }
        case .failure(let problem):
            fields = [MQTTChuckField("problem", problem.sentence)]
            if let size = row.payloadSize { payload = max(0, raw.size - size)..<raw.range.count }
        }
        return MQTTChuckDetails(
            row: row, explanation: raw.type?.explanation ?? "Bytes that are not a packet.", fields: fields,
            bytes: Array(raw.bytes), payload: payload, exchange: exchange)
    }

    /// Returns the number of the oldest row before `new` that began an exchange which ended in `new`. Returns `nil` if
    /// there is no such row.
    ///
    /// If a query asks how long exchanges took, a live view must check the rows from that number on again. The result
    /// is never more than ``rowsLookedAtAgain`` rows before `new`. Older rows are not checked again.
    package func firstRow(endedBy new: Range<UInt64>, for query: MQTTChuckQuery) -> UInt64? {
        guard query.needsRoundTrips, !new.isEmpty else { return nil }
        var first = new.lowerBound
        forEachLink(from: new.lowerBound) { link in
            if link.row >= new.upperBound { return false }
            if link.isLast { first = min(first, link.start) }
            return true
        }
        let oldest = new.lowerBound - min(new.lowerBound, Self.rowsLookedAtAgain)
        return first < new.lowerBound ? max(first, oldest) : nil
    }

    func rawRows(from first: UInt64, limit: Int) -> [RawRow] {
        withHeldRows { $0.recorder.rows(from: first, limit: limit) }
    }

    /// Returns `raws`. If the query has a condition on durations, adds to each row the duration of its exchange.
    func timed(_ raws: [RawRow], for query: MQTTChuckQuery) -> [RawRow] {
        guard query.needsRoundTrips, let first = raws.first else { return raws }
        var raws = raws
        let starts = Set(raws.compactMap(\.exchangeStart))
        // The last packet of an exchange ends the exchange. So none of these exchanges ended before the first row in
        // `raws`, and the search begins at that row.
        let endings = endings(of: starts, from: first.number)
        for index in raws.indices {
            raws[index].roundTrip = raws[index].exchangeStart.flatMap { endings[$0]?.elapsed }
        }
        return raws
    }

    /// Returns up to `limit` links of the exchange that the row `start` began. `start` itself has no link.
    private func links(ofExchange start: UInt64, limit: Int) -> [ExchangeLink] {
        var result: [ExchangeLink] = []
        forEachLink(from: start) { link in
            if link.start == start { result.append(link) }
            return result.count < limit && !(link.start == start && link.isLast)
        }
        return result
    }

    /// Returns the links that end the exchanges in `starts`, by exchange. The search begins at row `first` and stops
    /// after `linksLookedThrough` links.
    private func endings(of starts: Set<UInt64>, from first: UInt64) -> [UInt64: ExchangeLink] {
        var result: [UInt64: ExchangeLink] = [:]
        var left = Self.linksLookedThrough
        forEachLink(from: first) { link in
            if link.isLast, starts.contains(link.start) { result[link.start] = link }
            left -= 1
            return left > 0 && result.count < starts.count
        }
        return result
    }

    /// Calls `body` with each exchange link of the rows from `first` on, until `body` returns `false`. The lock is held
    /// only while a group of links is copied, so that recording is not delayed for long.
    func forEachLink(from first: UInt64, _ body: (ExchangeLink) -> Bool) {
        var next = first
        while true {
            let part = state.withLock { $0.recorder.links(from: next, limit: Self.linkChunk) }
            guard let last = part.last, part.allSatisfy(body), last.row < .max else { return }
            next = last.row + 1
        }
    }

    /// Formats rows. A row that began an exchange gets the exchange's round trip.
    private func page(_ raws: [RawRow], next: UInt64, _ reader: RowReader) -> MQTTChuckPage {
        var rows = raws.map { reader.row($0) }
        let starts = Set(rows.filter { $0.exchange == $0.number }.map(\.number))
        if let first = starts.min() {
            let endings = endings(of: starts, from: first)
            for index in rows.indices {
                if let link = endings[rows[index].number] { rows[index].roundTrip = .nanoseconds(link.elapsed) }
            }
        }
        return MQTTChuckPage(rows: rows, next: next, summary: summary)
    }
}
