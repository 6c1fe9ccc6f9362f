/// A visible character together with its combining marks. It covers one or two terminal cells.
struct Glyph: Hashable, Sendable {
    /// The maximum number of Unicode scalars in a glyph. Further combining marks are dropped.
    static let scalarLimit = 8

    let text: String
    /// The number of terminal cells: 1 or 2.
    let width: Int

    static let space = Glyph(text: " ", width: 1)
}
