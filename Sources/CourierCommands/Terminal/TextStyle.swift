/// The color and the attributes of characters on the terminal.
struct TextStyle: Hashable, Sendable {
    /// The eight standard terminal colors. The user's terminal settings decide how they look.
    enum Colour: Int, Sendable, CaseIterable {
        case black, red, green, yellow, blue, magenta, cyan, white
    }

    /// The text color. If it is `nil`, the default color of the terminal is used.
    var colour: Colour?
    var isBold = false
    var isFaint = false
    var isUnderlined = false
    var isReversed = false

    static let plain = TextStyle()
    static let bold = TextStyle(isBold: true)
    static let faint = TextStyle(isFaint: true)
    static let reversed = TextStyle(isReversed: true)

    /// Returns the plain style in this color.
    static func coloured(_ colour: Colour) -> TextStyle { TextStyle(colour: colour) }

    /// Returns the escape sequence that switches the terminal to this style and resets all other attributes.
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
