/// What an option is called: letters with one dash, words with two.
package struct OptionNames: Hashable, Sendable {
    /// The letter, as in `-h`; `nil` when it has none.
    package let letter: Character?

    /// The words, as in `--host`, the preferred first.
    package let words: [String]

    /// Joins the two; at least one of them should be there.
    ///
    /// - Parameters:
    ///   - letter: The letter without its dash; `nil` by default.
    ///   - words: The words without their dashes; none by default.
    package init(_ letter: Character? = nil, _ words: String...) {
        self.letter = letter
        self.words = words
    }

    /// Every spelling with its dashes, the letter first.
    package var all: [String] { (letter.map { ["-\($0)"] } ?? []) + words.map { "--\($0)" } }

    /// How messages call it: by its letter, or by its first word.
    package var main: String { all.first ?? "" }
}
