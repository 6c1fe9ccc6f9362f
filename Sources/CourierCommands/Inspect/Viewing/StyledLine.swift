/// A line of text for the terminal, made of parts with different styles.
struct StyledLine: Hashable, Sendable {
    struct Part: Hashable, Sendable {
        let text: GlyphText
        let style: TextStyle
    }

    static let blank = StyledLine()

    private(set) var parts: [Part] = []

    init() {}

    init(_ text: GlyphText, _ style: TextStyle = .plain) { parts = [Part(text: text, style: style)] }

    init(_ text: String, _ style: TextStyle = .plain) { self.init(GlyphText(text), style) }

    mutating func append(_ text: String, _ style: TextStyle = .plain) { append(GlyphText(text), style) }

    mutating func append(_ text: GlyphText, _ style: TextStyle = .plain) {
        parts.append(Part(text: text, style: style))
    }

    /// The number of terminal cells that the line covers.
    var width: Int { parts.reduce(0) { $0 + $1.text.width } }

    /// Writes the line into a row of the frame. A reversed line fills the whole width.
    func put(into frame: inout Frame, row: Int, isReversed: Bool = false) {
        if isReversed { frame.fill(row: row, style: .reversed) }
        var column = 0
        for part in parts {
            var style = part.style
            // In a reversed line, the text color would become the background color, so the line has no text color.
            if isReversed { style = TextStyle(isBold: style.isBold, isReversed: true) }
            column = frame.put(part.text, row: row, column: column, style: style)
        }
    }
}
