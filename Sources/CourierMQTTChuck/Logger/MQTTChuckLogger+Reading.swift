import CourierCore
import MQTTCodec
import Synchronization

extension MQTTChuckLogger {
    /// The most rows one call returns or looks at, unless it names other numbers.
    public static let pageLimit = 1_000

    /// How many later packets of exchanges are looked through for the end of one: 16,384. One that took longer has no
    /// round trip on its earlier packets.
    static let linksLookedThrough = 16_384

    /// How many rows at most a view that follows has to look at again when exchanges end: 16,384.
    static let rowsLookedAtAgain: UInt64 = 16_384

    /// Rows in the order of time, from a number on.
    ///
    /// - Parameters:
    ///   - first: The number of the first row that may be returned; the oldest that is kept by default.
    ///   - query: Which rows are wanted; all by default.
    ///   - limit: The most rows that are returned.
    ///   - scanLimit: The most rows that are looked at, so that a rare match does not hold the caller up; ask again
    ///     with the page's ``MQTTChuckPage/next``. No limit by default.
    /// - Returns: The rows, and where to continue.
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

    /// The newest rows before a number, in the order of time.
    ///
    /// - Parameters:
    ///   - end: The number behind the last row that may be returned; by default the newest is.
    ///   - query: Which rows are wanted; all by default.
    ///   - limit: The most rows that are returned.
    ///   - scanLimit: The most rows that are looked at; no limit by default.
    /// - Returns: The rows; ``MQTTChuckPage/next`` is the number to give as `end` for older ones.
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
            let part = state.withLock { state in
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

    /// All there is to know of one packet.
    ///
    /// - Parameter number: The number of its row.
    /// - Returns: The details, or `nil` when the row is not kept any more.
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
            row: row, explanation: raw.type?.explanation ?? "Bytes that are no packet.", fields: fields,
            bytes: Array(raw.bytes), payload: payload, exchange: exchange)
    }

    /// The first row before `new` of which a query that asks how long exchanges took may say something else since the
    /// rows in `new` came: the oldest that began an exchange which these ended. `nil` where there is none.
    ///
    /// Rows more than ``rowsLookedAtAgain`` before `new` are left as they are.
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
        state.withLock { $0.recorder.rows(from: first, limit: limit) }
    }

    /// The rows with how long their exchanges took, where the query asks for it.
    func timed(_ raws: [RawRow], for query: MQTTChuckQuery) -> [RawRow] {
        guard query.needsRoundTrips, let first = raws.first else { return raws }
        var raws = raws
        let starts = Set(raws.compactMap(\.exchangeStart))
        let endings = endings(of: starts, from: first.number)  // None of them ended before the first row.
        for index in raws.indices {
            raws[index].roundTrip = raws[index].exchangeStart.flatMap { endings[$0]?.elapsed }
        }
        return raws
    }

    /// The rows that belong to the exchange that `start` began, without `start`: up to `limit`.
    private func links(ofExchange start: UInt64, limit: Int) -> [ExchangeLink] {
        var result: [ExchangeLink] = []
        forEachLink(from: start) { link in
            if link.start == start { result.append(link) }
            return result.count < limit && !(link.start == start && link.isLast)
        }
        return result
    }

    /// The links from row `first` on that end an exchange which began in `starts`, as far as it is looked.
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

    /// Calls `body` with the links of rows from `first` on, until it answers `false`. Nobody has to wait meanwhile but
    /// for the copy of some of them.
    func forEachLink(from first: UInt64, _ body: (ExchangeLink) -> Bool) {
        var next = first
        while true {
            let part = state.withLock { $0.recorder.links(from: next, limit: Self.linkChunk) }
            guard let last = part.last, part.allSatisfy(body), last.row < .max else { return }
            next = last.row + 1
        }
    }

    /// Formats rows, and adds the round trips to those that began an exchange.
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
