/// Swift source in the making: lines, indented by the blocks they stand in.
struct SourceText {
    private(set) var text = ""
    private var level = 0

    /// Adds one line; an empty one has no spaces.
    mutating func line(_ line: String = "") {
        if !line.isEmpty { text += String(repeating: " ", count: level * 4) + line }
        text += "\n"
    }

    /// Adds lines between an opening and a closing one, one level deeper.
    mutating func block(_ opening: String, closing: String = "}", _ body: (inout SourceText) -> Void) {
        line(opening)
        indented(body)
        line(closing)
    }

    /// Adds a `switch`, whose cases stand at its own level.
    mutating func cases(of value: String, _ body: (inout SourceText) -> Void) {
        line("switch \(value) {")
        body(&self)
        line("}")
    }

    /// Adds lines one level deeper.
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
    /// Its lines as Swift's compiler sees them: LF, CR and both together end one, and nothing else does.
    var sourceLines: [Substring] {
        split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r" || $0 == "\r\n" }
    }
}
