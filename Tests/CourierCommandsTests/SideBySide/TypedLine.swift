/// One line of the ``CommandLineTable``, cut into words.
struct TypedLine: Hashable, Sendable {
    /// The command: `pub`, `sub` or `rr`.
    let command: String
    /// What stands behind it.
    let arguments: [String]
    /// What it reads.
    let input: [UInt8]

    /// Cuts a line at its spaces, but for those between single quotes.
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
        // By scalars: a carriage return and a line feed are one character.
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
