/// The values of an option: the words after the option that belong to it.
package struct OptionValues: Sendable {
    /// The words that a shell suggests for a value.
    package enum Completion: Hashable, Sendable {
        /// No suggestions: any text is possible.
        case anything
        /// The names of files.
        case files
        /// The names of folders.
        case folders
        /// A fixed list of words.
        case words([String])
    }

    /// The names of the values in help, such as `HOST`; empty for an option without values.
    package let names: [String]

    /// The words that a shell suggests for the first value.
    package let completion: Completion

    /// Returns how many of the words after the option are its values.
    let count: @Sendable (ArraySlice<String>) throws -> Int

    private init(
        _ names: [String], _ completion: Completion, _ count: @escaping @Sendable (ArraySlice<String>) throws -> Int
    ) {
        self.names = names
        self.completion = completion
        self.count = count
    }

    /// The option has no values.
    package static let none = OptionValues([], .anything) { _ in 0 }

    /// The option has one value.
    ///
    /// - Parameters:
    ///   - name: The name of the value in help.
    ///   - completion: The words that a shell suggests for the value; none by default.
    /// - Returns: The description of the value.
    package static func one(_ name: String, _ completion: Completion = .anything) -> OptionValues {
        OptionValues([name], completion) { _ in 1 }
    }

    /// The option has a variable number of values, which depends on the words that follow it.
    ///
    /// - Parameters:
    ///   - names: The names of the values in help.
    ///   - completion: The words that a shell suggests for the first value; none by default.
    ///   - count: Receives the words after the option and returns how many of them are its values. It throws if the
    ///     words are invalid.
    /// - Returns: The description of the values.
    package static func several(
        _ names: [String], _ completion: Completion = .anything,
        count: @escaping @Sendable (ArraySlice<String>) throws -> Int
    ) -> OptionValues {
        OptionValues(names, completion, count)
    }
}
