import CourierCore
import MQTTCodec

/// Reads the sentence of a ``FaultRule``, word by word.
struct FaultRuleParser {
    /// A word of the sentence, both in lower case and as the user wrote it.
    private struct Word {
        let written: String
        let column: Int
        let isQuoted: Bool
        var folded: String { isQuoted ? "" : written.lowercased() }
    }

    private enum Verb { case drop, delay, duplicate, corrupt, cut(CutStyle), cutAfter(CutStyle) }

    /// The optional parts of a rule's sentence, such as `from the client`.
    private struct Parts {
        var selection: FaultRule.Selection?
        var sender: Endpoint?
        var topic: TopicFilter?
        var delay: Duration?
    }

    private static let actions = "drop, delay, duplicate, corrupt, cut or reset"
    private static let typesWithTopics: Set<PacketType> = [.publish, .subscribe, .unsubscribe]
    private static let units: [String: Double] = [
        "ms": 1_000, "millisecond": 1_000, "milliseconds": 1_000, "s": 1e6, "second": 1e6, "seconds": 1e6, "min": 6e7,
        "minute": 6e7, "minutes": 6e7,
    ]

    private let text: String
    private let words: [Word]
    private var next = 0

    init(_ text: String) {
        self.text = text
        words = Self.split(text)
    }

    private static func split(_ text: String) -> [Word] {
        var words: [Word] = []
        let characters = Array(text)
        var index = 0
        while index < characters.count {
            if characters[index].isWhitespace {
                index += 1
                continue
            }
            let start = index
            if characters[index] == "\"", let end = characters[(index + 1)...].firstIndex(of: "\"") {
                words.append(Word(written: String(characters[start + 1..<end]), column: start + 1, isQuoted: true))
                index = end + 1
                continue
            }
            while index < characters.count, !characters[index].isWhitespace { index += 1 }
            words.append(Word(written: String(characters[start..<index]), column: start + 1, isQuoted: false))
        }
        return words
    }

    // MARK: The sentence

    mutating func rule() throws(FaultRuleError) -> FaultRule {
        let verb = try verb()
        var parts = Parts()
        if case .cutAfter = verb, let number = word.flatMap({ Int($0.folded) }) {
            parts.selection = .number(try positive(number))
            next += 1
        } else {
            parts.selection = try leadingSelection()
        }
        let types = try packetTypes()
        while next < words.count { try part(of: verb, types, &parts) }
        if parts.topic != nil, !types.isSubset(of: Self.typesWithTopics) {
            let others = types.subtracting(Self.typesWithTopics).map(\.description).sorted().joined(separator: ", ")
            throw error("\(others) has no topic; leave the topic filter out", at: 0)
        }
        return FaultRule(
            try action(verb, parts), of: types, from: parts.sender, topic: parts.topic,
            selecting: parts.selection ?? .all)
    }

    private mutating func verb() throws(FaultRuleError) -> Verb {
        let first = word?.folded
        next += 1
        switch first {
        case "drop": return .drop
        case "delay": return .delay
        case "duplicate": return .duplicate
        case "corrupt": return .corrupt
        case "cut": return cut(.orderly)
        case "reset": return cut(.reset)
        default:
            throw error("a rule begins with \(Self.actions), as in “drop the third PUBACK”", at: 0)
        }
    }

    private mutating func cut(_ style: CutStyle) -> Verb {
        if takes("after") { return .cutAfter(style) }
        _ = takes("at")
        return .cut(style)
    }

    private func action(_ verb: Verb, _ parts: Parts) throws(FaultRuleError) -> FaultRule.Action {
        switch verb {
        case .drop: return .drop
        case .duplicate: return .duplicate
        case .corrupt: return .corrupt
        case .cut(let style): return .cut(style)
        case .cutAfter(let style): return .cutAfter(style)
        case .delay:
            guard let delay = parts.delay else {
                throw error("the duration of the delay is missing; write it as in “by 2 s” or “by 500 ms”", at: next)
            }
            return .delay(delay)
        }
    }

    /// Reads the number before the packet types, such as `the third` or `every tenth`; `nil` if there is none.
    private mutating func leadingSelection() throws(FaultRuleError) -> FaultRule.Selection? {
        if takes("every") || takes("each") {
            guard let step = word.flatMap({ Ordinal.number($0.folded) ?? Int($0.folded) }) else { return .all }
            let checked = try positive(step)
            next += 1
            return .every(checked)
        }
        if takes("all") || takes("any") { return .all }
        let hasArticle = takes("the")
        guard let found = word else { return nil }
        if let number = Ordinal.number(found.folded) {
            next += 1
            guard number == 1, let count = word.flatMap({ Int($0.folded) }) else { return .number(number) }
            let checked = try positive(count)
            next += 1
            return .first(checked)
        }
        if let count = Int(found.folded), count > 0 {
            throw error(
                "write “the first \(count)” for \(count) packets, or “the \(Ordinal.text(count))” for one", at: next)
        }
        if hasArticle { throw error("“the” needs a number, as in “the third”, “the 100th” or “the first 5”", at: next) }
        return nil
    }

    private mutating func packetTypes() throws(FaultRuleError) -> Set<PacketType> {
        if takes("packet") || takes("packets") { return [] }
        var types: Set<PacketType> = []
        while true {
            guard let found = word else { throw missingType }
            let hasComma = found.folded.hasSuffix(",")
            guard let type = Self.type(hasComma ? String(found.folded.dropLast()) : found.folded) else {
                throw missingType
            }
            types.insert(type)
            next += 1
            if hasComma {
                _ = takes("and") || takes("or")
            } else if !(takes("and") || takes("or")) {
                return types
            }
        }
    }

    private var missingType: FaultRuleError {
        let names = PacketType.allCases.map(\.description).joined(separator: ", ")
        return error("a packet type is missing; write “packets”, \(names)", at: next)
    }

    private static func type(_ folded: String) -> PacketType? {
        PacketType.allCases.first { type in
            let name = type.description.lowercased()
            return folded == name || folded == name + "s"
        }
    }

    // MARK: Parts after the packet types

    private mutating func part(
        of verb: Verb, _ types: Set<PacketType>, _ parts: inout Parts
    ) throws(FaultRuleError) {
        guard let found = word else { return }
        if takes("from") {
            _ = takes("the")
            guard let sender = side() else { throw error("after “from”, write “the client” or “the broker”", at: next) }
            try set(\.sender, to: sender, "the sender", &parts)
        } else if takes("to") {
            try readReceiverOrTopic(&parts)
        } else if takes("by") {
            guard case .delay = verb else {
                throw error("only a delay has a duration; leave “by” out, or begin with “delay”", at: next - 1)
            }
            try set(\.delay, to: try duration(), "the duration", &parts)
        } else if takes("after") {
            _ = takes("the")
            _ = takes("first")
            guard let count = word.flatMap({ Int($0.folded) ?? Ordinal.number($0.folded) }) else {
                throw error("write a number after the word “after”, as in “after 10”", at: next)
            }
            try set(\.selection, to: .after(try positive(count)), "the number", &parts)
            next += 1
        } else if let number = Int(found.folded) {
            try set(\.selection, to: .number(try positive(number)), "the number", &parts)
            next += 1
        } else if parts.topic == nil, types.isEmpty || !types.isDisjoint(with: Self.typesWithTopics) {
            try readTopic(&parts)
        } else {
            throw error(
                "\(found.written.quoted()) is not expected here; write from, to, by, after or a number", at: next)
        }
    }

    /// Reads the words after `to`: `the client`, `the broker` or a topic filter.
    private mutating func readReceiverOrTopic(_ parts: inout Parts) throws(FaultRuleError) {
        let start = next
        if takes("the"), let receiver = side() {
            return try set(\.sender, to: receiver == .client ? .server : .client, "the sender", &parts)
        }
        next = start
        try readTopic(&parts)
    }

    private mutating func readTopic(_ parts: inout Parts) throws(FaultRuleError) {
        guard let found = word else {
            throw error("after “to”, write a topic filter, “the client” or “the broker”", at: next)
        }
        let filter: TopicFilter
        do throws(CourierError) { filter = try TopicFilter(found.written) } catch {
            throw self.error(error.message, at: next)
        }
        try set(\.topic, to: filter, "the topic filter", &parts)
        next += 1
    }

    private mutating func side() -> Endpoint? {
        if takes("client") { return .client }
        return takes("broker") || takes("server") ? .server : nil
    }

    private mutating func duration() throws(FaultRuleError) -> Duration {
        let start = next
        let wanted = "write the duration as in “by 2 s”, “by 500 ms” or “by 1 min”"
        guard let found = word else { throw error(wanted, at: start) }
        let digits = found.folded.prefix { $0.isASCII && $0.isNumber || $0 == "." }
        var unit = String(found.folded.dropFirst(digits.count))
        next += 1
        if unit.isEmpty, let following = word {
            unit = following.folded
            next += 1
        }
        guard let number = Double(digits), number.isFinite, let microseconds = Self.units[unit] else {
            throw error(wanted, at: start)
        }
        guard number > 0, number * microseconds <= 86_400 * 1e6 else {
            throw error("a delay must be longer than 0 and at most 24 hours", at: start)
        }
        return .microseconds(max(1, Int64((number * microseconds).rounded())))
    }

    // MARK: Words and errors

    private var word: Word? { next < words.count ? words[next] : nil }

    /// If the next word is `wanted`, moves to the word after it and returns `true`; otherwise returns `false`.
    private mutating func takes(_ wanted: String) -> Bool {
        guard word?.folded == wanted else { return false }
        next += 1
        return true
    }

    private func positive(_ number: Int) throws(FaultRuleError) -> Int {
        guard number > 0 else { throw error("packets are counted from 1; write a number of at least 1", at: next) }
        return number
    }

    private func set<Value>(
        _ part: WritableKeyPath<Parts, Value?>, to value: Value, _ name: String, _ parts: inout Parts
    ) throws(FaultRuleError) {
        guard parts[keyPath: part] == nil else {
            throw error("\(name) is given twice; leave one of them out", at: min(next, words.count - 1))
        }
        parts[keyPath: part] = value
    }

    /// Returns an error at the column of the word with this index, or at the end of the text after the last word.
    private func error(_ message: String, at index: Int) -> FaultRuleError {
        let column = index < words.count ? words[index].column : text.count + 1
        return FaultRuleError(text: text, column: column, message: message)
    }
}
