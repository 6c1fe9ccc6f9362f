import Foundation

/// One finding as a line of text that begins with a mark, with its advice on a second line.
struct FindingLine {
    let state: Finding.State
    let title: String
    /// The width of the column of titles in characters.
    let titleWidth: Int
    let text: String
    let advice: String?

    func text(hasColours: Bool) -> String {
        let (mark, colour) =
            switch state {
            case .good: ("ok     ", "32")
            case .notice: ("note   ", "33")
            case .problem: ("PROBLEM", "31")
            }
        let shown = hasColours ? "\u{1B}[\(colour)m\(mark)\u{1B}[0m" : mark
        let column = title.padding(toLength: titleWidth, withPad: " ", startingAt: 0)
        let indent = String(repeating: " ", count: titleWidth + 10)
        let second = advice.map { "\(indent)-> \($0.onOneLine)\n" } ?? ""
        return "\(shown)  \(column)  \(text.onOneLine)\n\(second)"
    }
}
