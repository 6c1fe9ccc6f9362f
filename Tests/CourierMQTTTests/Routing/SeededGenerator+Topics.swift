import TestSupport

/// Random topics and filters. They consist of few texts, so that they often match.
extension SeededGenerator {
    mutating func topic() -> String {
        let text = levels(upTo: 5, from: ["a", "b", "", "ab", "é", "$x", "$SYS"]).joined(separator: "/")
        return text.isEmpty ? "a" : text
    }

    mutating func filter() -> String {
        var levels = levels(upTo: 5, from: ["a", "b", "", "ab", "é", "$x", "$SYS", "+", "+", "+"])
        if below(4) == 0 { levels.append("#") }
        let text = levels.joined(separator: "/")
        if text.isEmpty { return "+" }
        return below(8) == 0 ? "$share/g\(below(2))/\(text)" : text
    }

    private mutating func levels(upTo count: Int, from texts: [String]) -> [String] {
        (0...below(count)).map { _ in texts[below(texts.count)] }
    }
}
