import CourierCore
import Foundation
import MQTTCodec

/// Parses the text of a query into terms.
struct QueryParser {
    private struct Word {
        var isNegated = false
        var key: String?
        var value = ""
        /// The column of the word, counted from 1. `valueColumn` is the column of its value.
        var column = 1
        var valueColumn = 1
        var isQuoted = false
    }

    private let text: String
    private let timeZone: TimeZone

    init(_ text: String, _ timeZone: TimeZone) {
        self.text = text
        self.timeZone = timeZone
    }

    func terms() throws(MQTTChuckQueryError) -> [QueryTerm] {
        var terms: [QueryTerm] = []
        for word in try words() {
            terms.append(QueryTerm(isNegated: word.isNegated, condition: try condition(word)))
        }
        return terms
    }

    // MARK: Splitting the text into words

    private func words() throws(MQTTChuckQueryError) -> [Word] {
        var words: [Word] = []
        let characters = Array(text)
        var index = 0
        while index < characters.count {
            if characters[index].isWhitespace {
                index += 1
                continue
            }
            var word = Word(column: index + 1, valueColumn: index + 1)
            if characters[index] == "-" {
                word.isNegated = true
                index += 1
                word.valueColumn = index + 1
            }
            while index < characters.count, !characters[index].isWhitespace {
                let character = characters[index]
                if character == "\"" {
                    word.isQuoted = true
                    index = try takeQuoted(characters, index, into: &word)
                } else if character == ":", word.key == nil, !word.isQuoted, Self.isKey(word.value),
                    !characters[(index + 1)...].starts(with: "//")
                {
                    word.key = word.value.lowercased()
                    word.value = ""
                    index += 1
                    word.valueColumn = index + 1
                } else {
                    word.value.append(character)
                    index += 1
                }
            }
            words.append(word)
        }
        return words
    }

    private func takeQuoted(
        _ characters: [Character], _ start: Int, into word: inout Word
    ) throws(MQTTChuckQueryError) -> Int {
        var index = start + 1
        while index < characters.count {
            if characters[index] == "\"" { return index + 1 }
            if characters[index] == "\\", index + 1 < characters.count { index += 1 }
            word.value.append(characters[index])
            index += 1
        }
        throw error(start + 1, "the closing quotation mark is missing")
    }

    /// True if this word, followed by a colon, is a key such as `topic:`. Keys have only ASCII letters.
    private static func isKey(_ word: String) -> Bool { !word.isEmpty && word.allSatisfy { $0.isASCII && $0.isLetter } }

    private func error(_ column: Int, _ message: String) -> MQTTChuckQueryError {
        MQTTChuckQueryError(query: text, column: column, message: message)
    }

    // MARK: Conditions

    private func condition(_ word: Word) throws(MQTTChuckQueryError) -> QueryCondition {
        guard let key = word.key else {
            if word.value.isEmpty { throw error(word.column, "write a word after -, as in -type:pingreq") }
            if !word.isQuoted, word.value.lowercased() == "errors" { return .errors }
            return .text(FoldedText.folded(word.value))
        }
        if word.value.isEmpty, Self.keys.contains(key) {
            throw error(word.valueColumn, "write a value after \(key):")
        }
        switch key {
        case "type": return .types(try types(word))
        case "dir": return .direction(try direction(word))
        case "topic":
            do {
                return .topic(try TopicFilter(word.value))
            } catch {
                throw self.error(word.valueColumn, error.message)
            }
        case "qos": return .qos(try comparison(word, "a QoS of 0 to 2, as in qos:>0", upTo: 2))
        case "client": return .client(FoldedText.folded(word.value))
        case "conn": return .connection(try comparison(word, "the number of a connection, as in conn:7"))
        case "id": return .packetID(try comparison(word, "a packet id, as in id:12", upTo: 65_535))
        case "row": return .row(try comparison(word, "the number of a row, as in row:>100"))
        case "size":
            let units: [(String, Int64)] = [("k", 1_000), ("m", 1_000_000), ("", 1)]
            return .size(try comparison(word, "a number of bytes, as in size:>1k", units: units))
        case "took":
            let units: [(String, Int64)] = [
                ("us", 1_000), ("ms", 1_000_000), ("s", 1_000_000_000), ("m", 60_000_000_000),
            ]
            return .roundTrip(try comparison(word, "a time with its unit, as in took:>50ms", units: units))
        case "reason": return .reason(try comparison(word, "a reason code, as in reason:0x87", upTo: 255))
        case "trace": return .trace(try traceID(word))
        case "retain": return .isRetained(try flag(word))
        case "dup": return .isDuplicate(try flag(word))
        case "after": return .after(try moment(word))
        case "before": return .before(try moment(word))
        default:
            throw error(
                word.isNegated ? word.column + 1 : word.column,
                "the key \(key.quoted()) does not exist; use \(Self.keys.joined(separator: ", ")), or quote the text"
            )
        }
    }

    private static let keys = [
        "type", "dir", "topic", "qos", "client", "conn", "id", "row", "size", "took", "reason", "trace", "retain",
        "dup", "after", "before",
    ]

    private func types(_ word: Word) throws(MQTTChuckQueryError) -> Set<PacketType> {
        var types: Set<PacketType> = []
        var column = word.valueColumn
        for name in word.value.split(separator: ",", omittingEmptySubsequences: false) {
            guard let type = PacketType.allCases.first(where: { $0.description == name.uppercased() }) else {
                let names = PacketType.allCases.map { $0.description.lowercased() }.joined(separator: ", ")
                throw error(column, "there is no packet type \(String(name).quoted()); use \(names)")
            }
            types.insert(type)
            column += name.count + 1
        }
        return types
    }

    private func direction(_ word: Word) throws(MQTTChuckQueryError) -> PacketBatch.Direction {
        switch word.value.lowercased() {
        case "in": return .incoming
        case "out": return .outgoing
        default: throw error(word.valueColumn, "write dir:in for packets from the broker, dir:out for packets to it")
        }
    }

    /// Returns the digits at the beginning of a trace id. The value may also be a whole `traceparent`.
    private func traceID(_ word: Word) throws(MQTTChuckQueryError) -> String {
        let value = word.value.lowercased()
        if let context = TraceContext(traceparent: value) { return context.traceID }
        guard value.count <= 32, value.allSatisfy({ $0.isASCII && $0.isHexDigit }) else {
            throw error(word.valueColumn, "write a trace id or its first digits, as in trace:4bf92f35")
        }
        return value
    }

    private func flag(_ word: Word) throws(MQTTChuckQueryError) -> Bool {
        switch word.value.lowercased() {
        case "yes", "true", "1": return true
        case "no", "false", "0": return false
        default: throw error(word.valueColumn, "write yes or no")
        }
    }

    private func comparison(
        _ word: Word, _ wanted: String, upTo limit: Int64 = .max, units: [(String, Int64)] = [("", 1)]
    ) throws(MQTTChuckQueryError) -> QueryComparison {
        let relations: [(String, QueryComparison.Relation)] = [
            (">=", .greaterOrEqual), ("<=", .lessOrEqual), (">", .greater), ("<", .less), ("=", .equal), ("", .equal),
        ]
        let value = word.value.lowercased()
        for (sign, relation) in relations where value.hasPrefix(sign) {
            let digits = value.dropFirst(sign.count)
            for (unit, factor) in units where digits.hasSuffix(unit) {
                guard let number = Self.number(digits.dropLast(unit.count)), number <= limit,
                    !number.multipliedReportingOverflow(by: factor).overflow
                else { continue }
                return QueryComparison(relation: relation, number: number * factor)
            }
            throw error(word.valueColumn + sign.count, "write \(wanted)")
        }
        throw error(word.valueColumn, "write \(wanted)")
    }

    private static func number(_ digits: Substring) -> Int64? {
        let number = digits.hasPrefix("0x") ? Int64(digits.dropFirst(2), radix: 16) : Int64(digits)
        return number.flatMap { $0 >= 0 ? $0 : nil }
    }

    // MARK: Times

    private func moment(_ word: Word) throws(MQTTChuckQueryError) -> QueryMoment {
        let wanted =
            "write a time, as in \(word.key ?? ""):10:00 or 10:00:05.250, or with a date, as in 2026-01-31T12:00"
        let parts = word.value.uppercased().split(separator: "T", omittingEmptySubsequences: false)
        guard let last = parts.last, parts.count <= 2, let time = Self.timeOfDay(last) else {
            throw error(word.valueColumn, wanted)
        }
        if parts.count == 1 {
            // The current difference between local time and UTC is used for all rows. So the time is an hour off for
            // rows that were recorded before the last daylight-saving change. A query with a date has no such error.
            return .timeOfDay(time, offset: Int64(timeZone.secondsFromGMT()) * Nanoseconds.perSecond)
        }
        let numbers = parts[0].split(separator: "-", omittingEmptySubsequences: false).map { Int($0) }
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = timeZone
        // The calendar converts the whole seconds, because it handles the hours that a daylight-saving change skips or
        // repeats.
        let (seconds, fraction) = Nanoseconds.split(time)
        guard numbers.count == 3, let year = numbers[0], let month = numbers[1], let day = numbers[2],
            (1970...2200).contains(year), (1...12).contains(month), (1...31).contains(day),
            let date = calendar.date(
                from: DateComponents(
                    year: year, month: month, day: day, hour: Int(seconds / 3_600), minute: Int(seconds / 60 % 60),
                    second: Int(seconds % 60)))
        else { throw error(word.valueColumn, wanted) }
        return .instant(Nanoseconds.sum(Nanoseconds.since1970(date), fraction))
    }

    /// Parses `10:00`, `10:00:05` or `10:00:05.250` into nanoseconds since midnight.
    private static func timeOfDay(_ text: Substring) -> Int64? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2 || parts.count == 3, let hours = Int64(parts[0]), (0...24).contains(hours),
            let minutes = Int64(parts[1]), (0...59).contains(minutes)
        else { return nil }
        var nanoseconds = (hours * 60 + minutes) * 60 * Nanoseconds.perSecond
        if parts.count == 3 {
            let second = parts[2].split(separator: ".", omittingEmptySubsequences: false)
            guard second.count <= 2, let whole = second.first.flatMap({ Int64($0) }), (0...60).contains(whole) else {
                return nil
            }
            nanoseconds += whole * Nanoseconds.perSecond
            if second.count == 2 {
                let digits = second[1].prefix(9)
                guard !digits.isEmpty, second[1].count <= 9, let fraction = Int64(digits), fraction >= 0 else {
                    return nil
                }
                nanoseconds += (0..<(9 - digits.count)).reduce(fraction) { value, _ in value * 10 }
            }
        }
        return nanoseconds
    }
}
