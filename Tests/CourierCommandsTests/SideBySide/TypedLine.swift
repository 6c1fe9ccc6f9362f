/// One line of the ``CommandLineTable``, cut into words.
struct TypedLine: Hashable, Sendable {
    /// The command: `pub`, `sub` or `rr`.
    let command: String
    /// The arguments after the command.
    let arguments: [String]
    /// The standard input.
    let input: [UInt8]

    /// Splits a line at its spaces, except between single quotes.
    init(_ text: String) {
        let parts = text.split(separator: " <<< ", maxSplits: 1)
        let words = Self.words(parts.first.map(String.init) ?? "")
        command = words.first ?? ""
        arguments = Array(words.dropFirst())
        input = parts.count > 1 ? Array((Self.words(String(parts[1])).first ?? "").utf8) : []
    }

    private static func words(_ text: String) -> [String] {
        var words: [String] = []
        var word: String?
        var isQuoted = false
        // Iterates over scalars, because a carriage return and a line feed are one `Character`.
        for scalar in text.unicodeScalars {
            switch scalar {
            case "'":
                isQuoted.toggle()
                word = word ?? ""
            case " " where !isQuoted:
                if let word { words.append(word) }
                word = nil
            default: word = (word ?? "") + String(scalar)
            }
        }
        return words + (word.map { [$0] } ?? [])
    }
}
