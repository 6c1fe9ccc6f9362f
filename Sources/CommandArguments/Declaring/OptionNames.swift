/// The names of an option: a letter with one dash, such as `-h`, and words with two dashes, such as `--host`.
package struct OptionNames: Hashable, Sendable {
    /// The letter, as in `-h`, or `nil` if the option has no letter.
    package let letter: Character?

    /// The words, as in `--host`. The preferred word is the first.
    package let words: [String]

    /// Creates the names of an option. It should have at least one letter or word.
    ///
    /// - Parameters:
    ///   - letter: The letter without its dash; `nil` by default.
    ///   - words: The words without their dashes; none by default.
    package init(_ letter: Character? = nil, _ words: String...) {
        self.letter = letter
        self.words = words
    }

    /// All names with their dashes, the letter first.
    package var all: [String] { (letter.map { ["-\($0)"] } ?? []) + words.map { "--\($0)" } }

    /// The name that error messages use: the letter, or the first word if there is no letter.
    package var main: String { all.first ?? "" }
}
