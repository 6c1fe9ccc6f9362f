/// Builds Swift source line by line, with indentation for nested blocks.
struct SourceText {
    private(set) var text = ""
    private var level = 0

    /// Adds one line. An empty line gets no indentation.
    mutating func line(_ line: String = "") {
        if !line.isEmpty { text += String(repeating: " ", count: level * 4) + line }
        text += "\n"
    }

    /// Adds an opening line, then the lines of the body with one more level of indentation, then a closing line.
    mutating func block(_ opening: String, closing: String = "}", _ body: (inout SourceText) -> Void) {
        line(opening)
        indented(body)
        line(closing)
    }

    /// Adds a `switch` statement. Its cases have the same indentation as the `switch`.
    mutating func cases(of value: String, _ body: (inout SourceText) -> Void) {
        line("switch \(value) {")
        body(&self)
        line("}")
    }

    /// Adds lines with one more level of indentation.
    mutating func indented(_ body: (inout SourceText) -> Void) {
        level += 1
        body(&self)
        level -= 1
    }

    /// Adds a documentation comment.
    mutating func comment(_ text: String) {
        for part in text.sourceLines { line(part.isEmpty ? "///" : "/// \(part)") }
    }
}

extension String {
    /// The lines of the text, split as the Swift compiler does: only LF, CR and CR LF end a line.
    var sourceLines: [Substring] {
        split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r" || $0 == "\r\n" }
    }
}
