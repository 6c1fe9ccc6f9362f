/// Reads command lines by declared options, as `getopt_long` does, and applies each option as it comes.
///
/// `-q 1`, `-q1`, `--qos 1` and `--qos=1` are the same; letters of options that stand alone may be joined, as in `-rd`. What
/// follows an option that wants a value is its value, whatever it begins with. `--` ends the options.
///
/// Options are applied in their order, so that the first mistake is the one that is reported.
package struct ArgumentReader<Target>: Sendable {
    /// What to do with a word that is no option.
    package enum Operands: Sendable {
        /// It is an error, as an unknown option is.
        case refused
        /// Each is given to this action.
        case accepted(@Sendable (inout Target, String) throws -> Void)
    }

    private let letters: [Character: Option<Target>]
    private let words: [String: Option<Target>]
    private let operands: Operands

    /// Prepares a reader.
    ///
    /// - Parameters:
    ///   - groups: The declared options. Where two have the same name, the first one has it.
    ///   - operands: What to do with words that are no options; they are refused by default.
    package init(_ groups: [OptionGroup<Target>], operands: Operands = .refused) {
        var letters: [Character: Option<Target>] = [:]
        var words: [String: Option<Target>] = [:]
        for option in groups.flatMap(\.options) {
            if let letter = option.summary.names.letter, letters[letter] == nil { letters[letter] = option }
            for word in option.summary.names.words where words[word] == nil { words[word] = option }
        }
        self.letters = letters
        self.words = words
        self.operands = operands
    }

    /// Reads `arguments`, without the program's name, into `target`.
    ///
    /// - Parameters:
    ///   - arguments: The words.
    ///   - target: What the options change.
    /// - Throws: ``ArgumentError`` for an unknown option or a missing value, and whatever an option's action throws.
    package func read(_ arguments: [String], into target: inout Target) throws {
        var rest = arguments[...]
        while let word = rest.popFirst() {
            if word == "--" {
                for word in rest { try take(operand: word, into: &target) }
                return
            }
            if word.hasPrefix("--") {
                try read(word: word, &rest, into: &target)
            } else if word.count > 1, word.hasPrefix("-") {
                try read(letters: word, &rest, into: &target)
            } else {
                try take(operand: word, into: &target)
            }
        }
    }

    private func read(word: String, _ rest: inout ArraySlice<String>, into target: inout Target) throws {
        let text = word.dropFirst(2)
        if let option = words[String(text)] { return try apply(option, &rest, into: &target) }
        guard let sign = text.firstIndex(of: "="), let option = words[String(text[..<sign])] else {
            throw Self.unknown(word)
        }
        let value = String(text[text.index(after: sign)...])
        if option.values.names.isEmpty {
            throw ArgumentError("The option --\(text[..<sign]) takes no value.")
        }
        var joined = [value] + rest
        var slice = joined[...]
        try apply(option, &slice, into: &target)
        joined = Array(slice)
        rest = joined[...]
    }

    private func read(letters text: String, _ rest: inout ArraySlice<String>, into target: inout Target) throws {
        var row = text.dropFirst()
        var isFirst = true
        while let letter = row.popFirst() {
            // A row that begins with what is no option is named as a whole.
            guard let option = letters[letter] else { throw Self.unknown(isFirst ? text : "-\(letter)") }
            isFirst = false
            if option.values.names.isEmpty || row.isEmpty {
                try apply(option, &rest, into: &target)
            } else {
                var slice = ([String(row)] + rest)[...]
                try apply(option, &slice, into: &target)
                rest = slice
                return
            }
        }
    }

    private func apply(
        _ option: Option<Target>, _ rest: inout ArraySlice<String>, into target: inout Target
    ) throws {
        let count = option.values.names.isEmpty ? 0 : try option.values.count(rest)
        guard count <= rest.count else { throw ArgumentError(option.missingText, blankLines: 2) }
        let values = Array(rest.prefix(count))
        rest = rest.dropFirst(count)
        try option.action(&target, values)
    }

    private func take(operand: String, into target: inout Target) throws {
        switch operands {
        case .refused: throw Self.unknown(operand)
        case .accepted(let action): try action(&target, operand)
        }
    }

    private static func unknown(_ word: String) -> ArgumentError { ArgumentError("Unknown option '\(word)'.") }
}
