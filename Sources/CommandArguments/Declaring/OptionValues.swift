/// Which words behind an option belong to it.
package struct OptionValues: Sendable {
    /// What a shell may offer in the place of a value.
    package enum Completion: Hashable, Sendable {
        /// Nothing.
        case anything
        /// Names of files.
        case files
        /// Names of folders.
        case folders
        /// These words.
        case words([String])
    }

    /// How help calls them, as in `HOST`; empty for an option that stands alone.
    package let names: [String]

    /// What a shell may offer for the first of them.
    package let completion: Completion

    /// How many of the words that follow belong to the option, where that depends on them.
    let count: @Sendable (ArraySlice<String>) throws -> Int

    private init(
        _ names: [String], _ completion: Completion, _ count: @escaping @Sendable (ArraySlice<String>) throws -> Int
    ) {
        self.names = names
        self.completion = completion
        self.count = count
    }

    /// The option stands alone.
    package static let none = OptionValues([], .anything) { _ in 0 }

    /// One word follows.
    ///
    /// - Parameters:
    ///   - name: How help calls it.
    ///   - completion: What a shell may offer; nothing by default.
    /// - Returns: The description.
    package static func one(_ name: String, _ completion: Completion = .anything) -> OptionValues {
        OptionValues([name], completion) { _ in 1 }
    }

    /// As many words follow as they say themselves.
    ///
    /// - Parameters:
    ///   - names: How help calls them.
    ///   - completion: What a shell may offer for the first; nothing by default.
    ///   - count: Says by the words that are left how many belong to the option; it throws when they make no sense.
    /// - Returns: The description.
    package static func several(
        _ names: [String], _ completion: Completion = .anything,
        count: @escaping @Sendable (ArraySlice<String>) throws -> Int
    ) -> OptionValues {
        OptionValues(names, completion, count)
    }
}
