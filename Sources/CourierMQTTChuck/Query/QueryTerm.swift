import CourierCore
import MQTTCodec

/// One condition of a query, possibly negated with `-`.
struct QueryTerm: Sendable {
    let isNegated: Bool
    let condition: QueryCondition
}

/// A comparison of a row's value with the number in the query.
struct QueryComparison: Sendable {
    enum Relation: Sendable { case equal, less, lessOrEqual, greater, greaterOrEqual }

    let relation: Relation
    let number: Int64

    func holds(_ value: Int64) -> Bool {
        switch relation {
        case .equal: value == number
        case .less: value < number
        case .lessOrEqual: value <= number
        case .greater: value > number
        case .greaterOrEqual: value >= number
        }
    }
}

/// A time in a query. A time without a date applies to every day.
enum QueryMoment: Sendable {
    /// A time with a date, in nanoseconds since 1970.
    case instant(Int64)
    /// A time of day in nanoseconds since midnight. `offset` is the number of nanoseconds that local time is ahead of
    /// UTC.
    case timeOfDay(Int64, offset: Int64)

    /// True if `time` is equal to or later than this moment. If this moment has no date, it is compared with the time
    /// of day of `time`.
    func isReached(by time: Int64) -> Bool {
        switch self {
        case .instant(let instant): return time >= instant
        case .timeOfDay(let moment, let offset):
            let day = 86_400 * Nanoseconds.perSecond
            let local = Nanoseconds.sum(time, offset) % day
            return (local < 0 ? local + day : local) >= moment
        }
    }
}

/// One condition on a row.
enum QueryCondition: Sendable {
    case types(Set<PacketType>)
    case direction(PacketBatch.Direction)
    case topic(TopicFilter)
    case qos(QueryComparison)
    case client([UInt8])
    case connection(QueryComparison)
    case packetID(QueryComparison)
    case row(QueryComparison)
    case size(QueryComparison)
    case roundTrip(QueryComparison)
    case reason(QueryComparison)
    /// The first digits of a trace id.
    case trace(String)
    case isRetained(Bool)
    case isDuplicate(Bool)
    case after(QueryMoment)
    case before(QueryMoment)
    case errors
    /// A text to search for, in lower case.
    case text([UInt8])

    func holds(_ raw: RawRow, _ reader: RowReader) -> Bool {
        switch self {
        case .types(let types): raw.type.map(types.contains) ?? false
        case .direction(let direction): raw.direction == direction
        case .topic(let filter): Self.hasTopic(raw, filter)
        case .qos(let comparison): raw.type == .publish && comparison.holds(Int64((raw.firstByte >> 1) & 0b11))
        case .client(let text): FoldedText.contains(Array(raw.connection.clientID.utf8)[...], text)
        case .connection(let comparison): comparison.holds(Int64(clamping: raw.connection.id))
        case .packetID(let comparison): raw.packetID.map { comparison.holds(Int64($0)) } ?? false
        case .row(let comparison): comparison.holds(Int64(clamping: raw.number))
        case .size(let comparison): comparison.holds(Int64(raw.size))
        case .roundTrip(let comparison): raw.roundTrip.map(comparison.holds) ?? false
        case .reason(let comparison): raw.reasons.contains { comparison.holds(Int64($0.code)) }
        case .trace(let digits): Self.hasTrace(raw, digits, reader)
        case .isRetained(let flag): raw.type == .publish && (raw.firstByte & 1 != 0) == flag
        case .isDuplicate(let flag): raw.type == .publish && raw.isDuplicate == flag
        case .after(let moment): moment.isReached(by: raw.time)
        case .before(let moment): !moment.isReached(by: raw.time)
        case .errors: raw.isError
        case .text(let text): Self.contains(raw, text, reader)
        }
    }

    private static func hasTopic(_ raw: RawRow, _ filter: TopicFilter) -> Bool {
        let pattern = ContiguousArray(filter.matchedString.utf8)
        switch raw.type {
        case .publish:
            if let range = raw.topicRange, !range.isEmpty {
                return raw.slab.bytes.withSpan { TopicFilter.matches(pattern.span, $0.extracting(range)) }
            }
            return raw.aliasTopic.map { $0.withUTF8Span { TopicFilter.matches(pattern.span, $0) } } ?? false
        case .subscribe, .unsubscribe:
            guard case .success(let packet) = RowReader.packet(raw) else { return false }
            let filters: [String]
            switch packet {
            case .subscribe(let subscribe): filters = subscribe.subscriptions.map(\.filter)
            case .unsubscribe(let unsubscribe): filters = unsubscribe.filters
            default: filters = []
            }
            return filters.contains { $0.withUTF8Span { TopicFilter.matches(pattern.span, $0) } }
        case .connect, .connAck, .pubAck, .pubRec, .pubRel, .pubComp, .subAck, .unsubAck, .pingReq, .pingResp,
            .disconnect, .auth, nil:
            return false
        }
    }

    /// True if the packet is a PUBLISH whose trace id begins with these digits. A packet is decoded only if its bytes
    /// contain the digits, because most packets do not contain them.
    private static func hasTrace(_ raw: RawRow, _ digits: String, _ reader: RowReader) -> Bool {
        guard raw.type == .publish, FoldedText.contains(raw.bytes, Array(digits.utf8)) else { return false }
        return reader.row(raw).traceContext?.traceID.hasPrefix(digits) ?? false
    }

    /// True if the text occurs in the packet's bytes, in the names shown with the packet, or in a parser's text of the
    /// payload.
    private static func contains(_ raw: RawRow, _ text: [UInt8], _ reader: RowReader) -> Bool {
        if FoldedText.contains(raw.bytes, text) { return true }
        var names = [raw.connection.clientID, raw.type?.description ?? "UNKNOWN"]
        if let topic = raw.aliasTopic { names.append(topic) }
        if raw.type == .connect { names.append(raw.connection.host) }
        if raw.type != .publish { names += raw.reasons.map(\.name) }
        if reader.payloads.hasParsers, raw.type == .publish { names.append(reader.row(raw).preview.text) }
        return names.contains { FoldedText.contains(Array($0.utf8)[...], text) }
    }
}

/// Text that is compared without regard to the case of ASCII letters.
enum FoldedText {
    static func folded(_ text: some StringProtocol) -> [UInt8] { text.utf8.map(folded) }

    static func contains(_ bytes: ArraySlice<UInt8>, _ text: [UInt8]) -> Bool {
        guard let first = text.first else { return true }
        guard bytes.count >= text.count else { return false }
        return bytes.withUnsafeBufferPointer { bytes in
            for start in 0...(bytes.count - text.count) where folded(bytes[start]) == first {
                var matched = 1
                while matched < text.count, folded(bytes[start + matched]) == text[matched] { matched += 1 }
                if matched == text.count { return true }
            }
            return false
        }
    }

    @inline(__always)
    private static func folded(_ byte: UInt8) -> UInt8 { byte >= 0x41 && byte <= 0x5A ? byte | 0x20 : byte }
}
