/// What takes one place on the terminal: a character that can be seen, and marks that stand on it.
struct Glyph: Hashable, Sendable {
    /// How many scalars it has at most; a text with a tower of accents loses those above.
    static let scalarLimit = 8

    let text: String
    /// How many cells it covers: 1 or 2.
    let width: Int

    static let space = Glyph(text: " ", width: 1)
}
