/// Parses command lines with declared options, like `getopt_long`, and applies each option when it is read.
///
/// `-q 1`, `-q1`, `--qos 1` and `--qos=1` are the same. Letters of options without values may be joined, as in `-rd`.
/// The word after an option that needs a value is its value, even if the word starts with `-`. `--` ends the options.
///
/// Options are applied in the order of the command line, so that the error reports the first mistake in the command
/// line.
package struct ArgumentReader<Target>: Sendable {
    /// How the reader handles operands: words that are not options.
    package enum Operands: Sendable {
        /// An operand (a word that is not an option) is an error, like an unknown option.
        case refused
        /// Each operand is passed to this action.
        case accepted(@Sendable (inout Target, String) throws -> Void)
    }

    private let letters: [Character: Option<Target>]
    private let words: [String: Option<Target>]
    private let operands: Operands

    /// Creates a reader.
    ///
    /// - Parameters:
    ///   - groups: The declared options. If two options have the same name, the name means the first of them.
    ///   - operands: How operands are handled; they are refused by default.
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

    /// Parses `arguments` and applies the options to `target`.
    ///
    /// - Parameters:
    ///   - arguments: The words of the command line, without the program's name.
    ///   - target: The settings that the options change.
    /// - Throws: ``ArgumentError`` for an unknown option or a missing value, and any error that an option's action
    ///   throws.
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
            // If the first letter after the dash is unknown, the error names the whole word. Otherwise it names only
            // the unknown letter.
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
