import CourierCore
import MQTTCodec

extension FaultRule {
    /// Reads a rule from an English sentence, as `courier proxy --fault` does.
    ///
    /// ```
    /// drop the third PUBACK
    /// delay PUBLISH to a/# by 2 s
    /// duplicate every tenth PUBLISH from the broker
    /// corrupt CONNACK
    /// cut after 100 packets
    /// reset at the second SUBSCRIBE
    /// ```
    ///
    /// A sentence begins with an action: `drop`, `delay`, `duplicate`, `corrupt`, `cut` or `reset`. The word `at` or
    /// `after` follows `cut` and `reset`. Then a number may follow: `every`, `every tenth`, `the third`, `the 3rd` or
    /// `the first 3`. Then packet types follow, separated by commas, or the word `packets`. These parts may follow in
    /// any order: `from the client` or `from the broker`, `to FILTER`, `by 2 s` or `by 500 ms`, and a number, such as
    /// in `PUBACK 3` and `PUBACK after 10`. `cut` closes both connections in an orderly way, `reset` by a TCP reset.
    /// Case does not matter, except in the topic filter.
    ///
    /// - Parameter text: The sentence.
    /// - Throws: ``FaultRuleError``, which names the place of the mistake and the words that are allowed there.
    public init(_ text: String) throws(FaultRuleError) {
        var parser = FaultRuleParser(text)
        self = try parser.rule()
    }
}

extension FaultRule: CustomStringConvertible {
    /// The rule as a sentence that ``init(_:)-(String)`` accepts.
    public var description: String {
        let all = types.isEmpty
        let names = types.map(\.description).sorted().joined(separator: ", ")
        var words: [String]
        switch action {
        case .drop: words = ["drop"]
        case .delay: words = ["delay"]
        case .duplicate: words = ["duplicate"]
        case .corrupt: words = ["corrupt"]
        case .cut(let style): words = [Self.verb(style), "at"]
        case .cutAfter(let style): words = [Self.verb(style), "after"]
        }
        switch selection {
        case .all: words += ["every", all ? "packet" : names]
        case .number(let number): words += ["the", Ordinal.text(number), all ? "packet" : names]
        case .every(let step): words += ["every", Ordinal.text(step), all ? "packet" : names]
        case .first(let count): words += ["the first \(count)", all ? "packets" : names]
        case .after: words += [all ? "packets" : names]
        }
        if let sender { words.append("from the \(sender == .client ? "client" : "broker")") }
        if let topic {
            words.append("to \(topic.string.contains(where: \.isWhitespace) ? "\"\(topic)\"" : topic.string)")
        }
        if case .delay(let delay) = action { words.append("by \(Self.text(delay))") }
        if case .after(let count) = selection { words.append("after the first \(count)") }
        return words.joined(separator: " ")
    }

    private static func verb(_ style: CutStyle) -> String {
        switch style {
        case .orderly: "cut"
        case .reset: "reset"
        }
    }

    private static func text(_ delay: Duration) -> String {
        let (seconds, attoseconds) = delay.components
        if attoseconds == 0 { return "\(seconds) s" }
        let microseconds = seconds * 1_000_000 + attoseconds / 1_000_000_000_000
        return microseconds % 1_000 == 0 ? "\(microseconds / 1_000) ms" : "\(Double(microseconds) / 1_000) ms"
    }
}

/// The ordinal words and numbers of rules, such as `third` and `100th`.
enum Ordinal {
    private static let words = [
        "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh",
        "twelfth",
    ]

    /// Returns a number as an ordinal: a word such as `third`, or digits with an ending such as `100th`.
    static func text(_ number: Int) -> String {
        if words.indices.contains(number - 1) { return words[number - 1] }
        let ending =
            switch (number % 100, number % 10) {
            case (11...13, _): "th"
            case (_, 1): "st"
            case (_, 2): "nd"
            case (_, 3): "rd"
            default: "th"
            }
        return "\(number)\(ending)"
    }

    /// Reads an ordinal as a word, or as a number with any of the endings `st`, `nd`, `rd` and `th`; `nil` if the text
    /// is neither.
    static func number(_ text: String) -> Int? {
        if let index = words.firstIndex(of: text) { return index + 1 }
        guard ["st", "nd", "rd", "th"].contains(text.suffix(2)) else { return nil }
        return Int(text.dropLast(2)).flatMap { $0 > 0 ? $0 : nil }
    }
}
