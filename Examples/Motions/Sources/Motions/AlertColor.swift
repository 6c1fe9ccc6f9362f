/// The colours that an alert can ask for, as a terminal shows them behind a text.
enum AlertColor: String {
    case black, red, green, yellow, blue, magenta, cyan, white

    /// What cannot be read as a colour is alarming enough to be red.
    init(_ name: String) { self = AlertColor(rawValue: name.lowercased()) ?? .red }

    /// Switches to the colour, with a text that can be read on it.
    var escapeSequence: String {
        let (background, text) =
            switch self {
            case .black: (40, 97)
            case .red: (41, 97)
            case .green: (42, 30)
            case .yellow: (43, 30)
            case .blue: (44, 97)
            case .magenta: (45, 97)
            case .cyan: (46, 30)
            case .white: (107, 30)
            }
        return "\u{1B}[\(background);\(text)m"
    }
}
