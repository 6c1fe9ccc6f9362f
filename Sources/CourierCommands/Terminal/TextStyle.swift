/// How characters look.
struct TextStyle: Hashable, Sendable {
    /// The colours that every terminal has, which its user has chosen.
    enum Colour: Int, Sendable, CaseIterable {
        case black, red, green, yellow, blue, magenta, cyan, white
    }

    /// The terminal's own by default.
    var colour: Colour?
    var isBold = false
    var isFaint = false
    var isUnderlined = false
    var isReversed = false

    static let plain = TextStyle()
    static let bold = TextStyle(isBold: true)
    static let faint = TextStyle(isFaint: true)
    static let reversed = TextStyle(isReversed: true)

    /// Plain text in a colour.
    static func coloured(_ colour: Colour) -> TextStyle { TextStyle(colour: colour) }

    /// What makes a terminal write like this, whatever it did before.
    func escapeSequence(hasColours: Bool) -> String {
        var numbers = ["0"]
        if isBold { numbers.append("1") }
        if isFaint { numbers.append("2") }
        if isUnderlined { numbers.append("4") }
        if isReversed { numbers.append("7") }
        if hasColours, let colour { numbers.append("\(30 + colour.rawValue)") }
        return "\u{1B}[\(numbers.joined(separator: ";"))m"
    }
}
